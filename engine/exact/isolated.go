package exact

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/packing"
)

// Isolated reports whether the pod keeps away from others by domain, and nothing else makes it depend on where others go.
func (k *Placer) Isolated(x *packing.Pod) bool {
	_, _, ok := k.Advice.Shuns(x.Class.PodInfo)
	return ok && x.Class.Rank == 1
}

// PlaceIsolated gives the isolated pods their places, before any other pod has one.
func (k *Placer) PlaceIsolated() {
	var rest []*packing.Pod
	for c, pods := range packing.ByClass(k.Unplaced) {
		if k.Isolated(pods[0]) {
			pods = k.placeApart(c, pods)
		}
		rest = append(rest, pods...)
	}
	k.Unplaced = rest
}

// placeApart gives the pods of a class places in as few domains as will do, and returns those without one.
func (k *Placer) placeApart(c *packing.Class, pods []*packing.Pod) (rest []*packing.Pod) {
	group, key, _ := k.Advice.Shuns(c.PodInfo)
	domains := k.isolationDomains(c, group, key, len(pods))
	for i, x := range pods {
		slices.SortStableFunc(domains, func(a, b string) int { return cmp.Compare(k.Advice.Keepers(group, b), k.Advice.Keepers(group, a)) })
		if !slices.ContainsFunc(domains, func(d string) bool { return k.putInDomain(x, key, d, len(pods)-i) }) {
			rest = append(rest, x)
		}
	}
	return rest
}

// isolationDomains are the domains in which the class may find machines. Those come first that fewest of the group depend on, then the cheapest.
func (k *Placer) isolationDomains(c *packing.Class, group int32, key string, pods int) []string {
	depend := map[string]int{}
	for _, y := range k.Classes {
		if names, _ := k.Market.ByDomain(y.Offers, key); y.PodInfo.In(group) && len(names) == 1 {
			depend[names[0]] += len(y.Pods)
		}
	}
	cost := map[string]int64{}
	_, sets := k.Market.ByDomain(c.Offers, key)
	for d, offers := range sets {
		cost[d] = packing.UnitCost(k.Packing, c, offers, pods)
	}
	for d := range k.ExistingByDomain(c, key) {
		cost[d] = 0
	}
	return slices.SortedFunc(maps.Keys(cost), func(a, b string) int {
		return cmp.Or(cmp.Compare(depend[a], depend[b]), cmp.Compare(cost[a], cost[b]), cmp.Compare(a, b))
	})
}

// putInDomain finds a place for the pod in a domain of the key.
func (k *Placer) putInDomain(x *packing.Pod, key, domain string, remaining int) bool {
	c := x.Class
	there := func(b *packing.Bin) bool { return b.Place.Labels[key] == domain }
	b := k.BestOf(k.Existing, x, &c.FullExisting, there)
	if b == nil {
		b = k.BestOf(k.Planned, x, &c.FullPlanned, func(b *packing.Bin) bool { return there(b) && k.Advice.Modest(c.PodInfo, b.Node) })
	}
	if b == nil {
		in := Level{}
		for _, r := range k.Reachable(c) {
			if k.Market.DomainOf(r, key) == domain {
				in = append(in, k.Market.Offers[r].DomainSet)
			}
		}
		b = k.Obtain(x, remaining, in)
	}
	if b == nil {
		return false
	}
	k.Join(b, x)
	return true
}
