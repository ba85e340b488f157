package search

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
)

// Pods that are spread over domains cannot all be where they cost least. How many of them have to be in some domains, whatever the plan,
// follows from their number: in each other domain there may be no more than the skew allows above the emptiest of these.

// portion is so many pods of a class, and what can be bought for them.
type portion struct {
	name   string
	pods   int
	offers market.Set
}

// tally is how pods of a class that is spread lie in domains, and what counts beside them.
type tally struct {
	names  []string
	sets   map[string]market.Set
	skew   int
	counts map[string]int  // that stay, and count
	fresh  map[string]int  // pods of the class on new machines
	others map[string]int  // pods of other classes that count and have been placed, and might have been elsewhere
	moving int             // all of these
	sure   map[string]bool // domains that count in every plan: see surely
}

// portions are the pods of a class on new machines: for each domain over which they are spread as many as it must have of them,
// whatever the plan; if it is asked for, as many as must not be in the cheapest domain, nor in the two cheapest, and so on; and the
// others, which may go anywhere. Those that may go to fewest offers come first.
func (k proving) portions(c *packing.Class, on onNew, chained bool) []portion {
	rest := portion{"", on.placed[c], c.Offers}
	t, ok := k.tally(c, on)
	if !ok {
		return []portion{rest}
	}
	var out []portion
	forced := map[string]int{}
	for _, d := range t.names {
		if n := t.least([]string{d}); n > 0 {
			out = append(out, portion{" " + d, n, t.sets[d]})
			forced[d] = n
			rest.pods -= n
		}
	}
	if chained && rest.pods > 0 {
		for _, p := range k.chain(c, t, forced) {
			out = append(out, p)
			rest.pods -= p.pods
		}
	}
	if rest.pods > 0 {
		out = append(out, rest)
	}
	return out
}

// chain is how many pods more than each domain must have by itself have to be in the dearest two of them, in the dearest three,
// and so on, but all. Every set of domains holds the one before it. So whatever the plan, its pods can be dealt out to the portions, the
// smallest set first: there are always enough, for each set has as many pods as its portions and those of the sets within need.
func (k proving) chain(c *packing.Class, t tally, forced map[string]int) []portion {
	cost := map[string]int64{}
	for _, d := range t.names {
		cost[d] = packing.UnitCost(k.Packing, c, t.sets[d], t.fresh[d]+1)
	}
	names := slices.Clone(t.names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(cost[b], cost[a]) })
	var out []portion
	within := market.NewSet(len(k.Market.Offers))
	sum := 0
	for i, d := range names[:max(len(names)-1, 0)] {
		within.Union(t.sets[d])
		sum += forced[d]
		if n := t.least(names[:i+1]) - sum; i > 0 && n > 0 {
			out = append(out, portion{" " + d + " and dearer", n, slices.Clone(within)})
			sum += n
		}
	}
	return out
}

// tally counts for a class that is spread over domains by itself; false if it is not.
func (k proving) tally(c *packing.Class, on onNew) (tally, bool) {
	key, group, skew, ok := k.Advice.SpreadOver(c.PodInfo)
	if !ok {
		return tally{}, false
	}
	t := tally{skew: skew, counts: k.Advice.ByDomain(group), fresh: map[string]int{}}
	t.names, t.sets = k.Market.ByDomain(c.Offers, key)
	t.sure = k.surely(t.sets)
	for offer, n := range on.offers[c] {
		d := k.Market.DomainOf(offer, key)
		t.fresh[d] += n
		t.counts[d] -= n
	}
	all := k.moving(on, group, key)
	t.moving, t.others = all.pods, maps.Clone(all.in)
	if slices.Contains(c.PodInfo.Members, group) {
		own := movers{in: t.others}
		k.move(&own, c, on, key, -1)
		t.moving += own.pods
	}
	for _, d := range t.names {
		t.sure[d] = t.sure[d] || t.counts[d] > t.others[d] // something stays there, on a machine that is there
	}
	return t, true
}

// moving are the pods that a group counts and that have been placed, by domain of a key. They are counted once: where a group counts
// the pods of all classes, each class asks for them.
func (k proving) moving(on onNew, group int32, key string) *movers {
	id := moversOf{group, key}
	all := on.moving[id]
	if all == nil {
		all = &movers{in: map[string]int{}}
		for _, o := range on.counted[group] {
			k.move(all, o, on, key, 1)
		}
		on.moving[id] = all
	}
	return all
}

// move adds the pods of a class so many times.
func (k proving) move(m *movers, c *packing.Class, on onNew, key string, times int) {
	for offer, n := range on.offers[c] {
		m.pods += times * n
		m.in[k.Market.DomainOf(offer, key)] += times * n
	}
	for b, n := range on.there[c] {
		m.pods += times * n
		m.in[b.Place.Labels[key]] += times * n
	}
}

// surely are the domains that some pool sells whatever else is bought. One that is sold under limits or by reservations alone
// cannot be reached any more once these are used up, and does not count then.
func (k proving) surely(sets map[string]market.Set) map[string]bool {
	out := map[string]bool{}
	for _, p := range k.Market.Pools {
		if len(p.Limits) > 0 || p.HasMinValues {
			continue
		}
		for i := range p.Offers.All {
			if len(out) == len(sets) {
				return out
			}
			if k.Market.Offers[i].Quota >= 0 {
				continue
			}
			for d, offers := range sets {
				if offers.Has(i) {
					out[d] = true
				}
			}
		}
	}
	return out
}

// least is how many of the pods on new machines have to be in some of the domains, whatever the plan; no more than are there in this one.
//
// Let it be v. The emptiest of those of these domains that are sure to count has no more than its share of all that may count in them: what stays there, these v and
// the moving pods of other classes, wherever these are. In each domain beside them a pod of the class was bound last, and then there
// were no more there than the skew above the emptiest of all: no more than the skew above that share. What of the domain stays counted
// then, but moving pods of other classes may have come later. So all pods of the class but v find room within these numbers, and the
// least v for which they do is what is looked for: with each more there are fewer others, and more room for them.
func (t *tally) least(within []string) int {
	count, stay, fresh, all := 0, 0, 0, 0
	for _, d := range t.names {
		all += t.fresh[d]
		if slices.Contains(within, d) {
			if t.sure[d] {
				count++
			}
			stay += max(t.counts[d], 0)
			fresh += t.fresh[d]
		}
	}
	if count == 0 {
		return 0
	}
	enough := func(v int) bool {
		share, room := (stay+v+t.moving)/count, 0
		for _, d := range t.names {
			if !slices.Contains(within, d) {
				room += max(share+t.skew-max(t.counts[d]-t.others[d], 0), 0)
			}
		}
		return all-v <= room
	}
	low, high := 0, fresh
	for low < high {
		if v := (low + high) / 2; enough(v) {
			high = v
		} else {
			low = v + 1
		}
	}
	return low
}
