package pack

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/world"
)

// A recluse keeps away from others by zone, or another domain beyond the
// machine, and these others, who have no such term themselves, go wherever there
// is room: soon they are in every zone and leave none to it, or it is in every
// zone first and leaves none to them. Nobody can tell beforehand whether that
// happens, so it is seen to afterwards: where one or the other found no place the
// pods are packed again, and recluses choose theirs first, close together.

// seclude packs again with recluses first if some, or some they keep away from,
// have no place. The result counts only if more get one and nobody loses the one he had.
func (k *Packer) seclude(m manner) *Packer {
	if !slices.ContainsFunc(k.Unplaced, func(x *packing.Pod) bool { return k.recluse(x) || k.Ledger.Shunned(x.Class.Subject) }) {
		return k
	}
	m.secluded = true
	if e := pack(k.World, k.Options, m); e.spares(k) && !e.unfair() {
		return e
	}
	return k
}

// recluse reports whether the pod keeps away from others by domain, and nothing else makes it depend on where others go.
func (k *placer) recluse(x *packing.Pod) bool {
	_, _, ok := k.Ledger.Shuns(x.Class.Subject)
	return ok && x.Class.Rank == 1
}

// spares reports whether fewer pods are left than there are in other, and none that are not.
func (k *Packer) spares(other *Packer) bool {
	left := map[world.Key]bool{}
	for _, x := range other.Unplaced {
		left[x.Pod.Key] = true
	}
	return len(k.Unplaced) < len(other.Unplaced) && !slices.ContainsFunc(k.Unplaced, func(x *packing.Pod) bool { return !left[x.Pod.Key] })
}

// settleRecluses gives the recluses their places, before anybody else has one.
func (k *placer) settleRecluses() {
	var rest []*packing.Pod
	for c, pods := range packing.ByClass(k.Unplaced) {
		if k.recluse(pods[0]) {
			pods = k.settleApart(c, pods)
		}
		rest = append(rest, pods...)
	}
	k.Unplaced = rest
}

// settleApart gives the pods of a class places in as few domains as will do, and returns those without one.
func (k *placer) settleApart(c *packing.Class, pods []*packing.Pod) (rest []*packing.Pod) {
	group, key, _ := k.Ledger.Shuns(c.Subject)
	domains := k.retreats(c, group, key, len(pods))
	for i, x := range pods {
		slices.SortStableFunc(domains, func(a, b string) int { return cmp.Compare(k.Ledger.Keepers(group, b), k.Ledger.Keepers(group, a)) })
		if !slices.ContainsFunc(domains, func(d string) bool { return k.putIn(x, key, d, len(pods)-i) }) {
			rest = append(rest, x)
		}
	}
	return rest
}

// retreats are the domains in which the class may find machines. Those come first that fewest of the group depend on, then the cheapest.
func (k *placer) retreats(c *packing.Class, group int32, key string, pods int) []string {
	depend := map[string]int{}
	for _, y := range k.Classes {
		if names, _ := k.Market.ByDomain(y.Offers, key); y.Subject.In(group) && len(names) == 1 {
			depend[names[0]] += len(y.Pods)
		}
	}
	cost := map[string]int64{}
	_, sets := k.Market.ByDomain(c.Offers, key)
	for d, offers := range sets {
		cost[d] = k.UnitCost(c, offers, pods)
	}
	for d := range k.ExistingByDomain(c, key) {
		cost[d] = 0
	}
	return slices.SortedFunc(maps.Keys(cost), func(a, b string) int {
		return cmp.Or(cmp.Compare(depend[a], depend[b]), cmp.Compare(cost[a], cost[b]), cmp.Compare(a, b))
	})
}

// putIn finds a place for the pod in a domain of the key.
func (k *placer) putIn(x *packing.Pod, key, domain string, remaining int) bool {
	c := x.Class
	there := func(b *packing.Bin) bool { return b.Place.Labels[key] == domain }
	b := k.BestOf(k.Existing, x, &c.FullExisting, there)
	if b == nil {
		b = k.BestOf(k.Planned, x, &c.FullPlanned, func(b *packing.Bin) bool { return there(b) && k.Ledger.Modest(c.Subject, b.Node) })
	}
	if b == nil {
		in := level{}
		for _, r := range k.Reachable(c) {
			if k.Market.DomainOf(r, key) == domain {
				in = append(in, k.Market.Offers[r].Tuple)
			}
		}
		b = k.obtain(x, remaining, in)
	}
	if b == nil {
		return false
	}
	k.Join(b, x)
	return true
}
