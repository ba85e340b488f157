package pack

import (
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
)

// confine keeps volumes that several pods wait for to zones that all of these
// pods can reach: the first to find a place decides for the others.
func (k *Packer) confine() {
	sharers := map[int32][]*class{}
	reach := map[*class][]string{}
	for _, c := range k.classes {
		for _, g := range c.subject.Volumes() {
			sharers[g] = append(sharers[g], c)
			if reach[c] == nil {
				reach[c] = k.zones(c)
			}
		}
	}
	groups := slices.Sorted(maps.Keys(sharers))
	zones := map[int32][]string{}
	for narrowed := true; narrowed; { // who shares several volumes ties them together
		narrowed = false
		for _, g := range groups {
			common := inCommon(reach, sharers[g])
			if len(common) == 0 || len(common) == len(zones[g]) {
				continue // somebody will be refused, or nothing is new
			}
			zones[g], narrowed = common, true
			for _, c := range sharers[g] {
				reach[c] = common
			}
		}
	}
	for g, names := range zones {
		k.ledger.Confine(g, names)
	}
}

// zones are those in which the class may find a machine.
func (k *Packer) zones(c *class) []string {
	names, _ := k.market.ByDomain(c.offers, label.Zone)
	for d := range k.thereByDomain(c, label.Zone) {
		names = append(names, d)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// inCommon are the zones that all of the classes can reach.
func inCommon(reach map[*class][]string, classes []*class) []string {
	return slices.DeleteFunc(slices.Clone(reach[classes[0]]), func(d string) bool {
		return slices.ContainsFunc(classes, func(c *class) bool { return !slices.Contains(reach[c], d) })
	})
}
