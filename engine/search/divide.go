package search

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/spread/advice"
)

// divideAll divides the lots that are to be spread over domains, and those that count for them: the latter first, such
// that they keep no others out. It returns the pods that would be one too many wherever they went.
func (k *Searcher) divideAll(all []*lot) (lots []*lot, beyond []*packing.Pod) {
	t := counter{k, map[int32]map[string]int{}}
	parts := k.divideCounted(all, t)
	for _, l := range all {
		switch split := l.simple.Split; {
		case parts[l] != nil:
			lots = append(lots, parts[l]...)
		case split != nil:
			split.Counts = t.of(split.Group, split.Counts)
			divided, left := k.divide(l, split, t)
			lots, beyond = append(lots, divided...), append(beyond, left...)
		case l.wish.Split != nil:
			lots = append(lots, k.divideSoftly(l, t)...)
		default:
			lots = append(lots, l)
		}
	}
	return k.keepAmong(lots, beyond, t)
}

// counter counts the pods of groups by domain, those of several lots together.
type counter struct {
	k      *Searcher
	counts map[int32]map[string]int
}

// of is the count of the group, which began as it is given.
func (t counter) of(group int32, begin map[string]int) map[string]int {
	if t.counts[group] == nil {
		if begin == nil {
			begin = t.k.Advice.ByDomain(group)
		}
		t.counts[group] = begin
	}
	return t.counts[group]
}

// sum is how many pods the groups have in the domain.
func (t counter) sum(groups []int32, domain string) int {
	n := 0
	for _, g := range groups {
		n += t.of(g, nil)[domain]
	}
	return n
}

// add counts pods of the lot in the domain.
func (t counter) add(l *lot, groups []int32, domain string, pods int) {
	for _, g := range groups {
		n := pods
		if l.piece > 0 {
			n = 0
			for _, x := range l.pods[:l.piece] {
				if x.Class.PodInfo.In(g) {
					n += pods
				}
			}
		}
		t.of(g, nil)[domain] += n
	}
}

// divideCounted shares the lots that count for others, and are themselves not spread, among the domains that they can reach, the
// emptiest first. Those that can reach fewest choose first.
func (k *Searcher) divideCounted(all []*lot, t counter) map[*lot][]*lot {
	type choice struct {
		lot   *lot
		names []string
		sets  map[string]market.Set
	}
	var turns []choice
	for _, l := range all {
		if len(l.counted) > 0 && l.simple.Split == nil {
			names, sets := k.Market.ByDomain(l.offers, l.simple.CountedBy)
			turns = append(turns, choice{l, names, sets})
		}
	}
	slices.SortStableFunc(turns, func(a, b choice) int { return cmp.Compare(len(a.names), len(b.names)) })
	out := map[*lot][]*lot{}
	for _, c := range turns {
		l := c.lot
		share := map[string]int{}
		cost := k.costs(l, l.simple.CountedBy, c.names, c.sets)
		for placed := 0; placed < l.pieces() && len(c.names) > 0; placed++ {
			best := slices.MinFunc(c.names, func(a, b string) int {
				return cmp.Or(cmp.Compare(t.sum(l.counted, a), t.sum(l.counted, b)), cmp.Compare(cost[a], cost[b]))
			})
			share[best]++
			t.add(l, l.counted, best, 1)
		}
		if len(c.names) > 0 {
			out[l] = l.parts(c.names, c.sets, share)
		}
	}
	return out
}

// parts are the lot in pieces, so many in each domain.
func (l *lot) parts(names []string, sets map[string]market.Set, share map[string]int) []*lot {
	var out []*lot
	from := 0
	for _, d := range names {
		if share[d] == 0 {
			continue
		}
		n := share[d] * max(l.piece, 1)
		part := *l
		part.name, part.offers, part.pods = l.name+" "+d, sets[d], l.pods[from:from+n]
		part.hasAlternatives = l.hasAlternatives || len(names) > 1
		out = append(out, &part)
		from += n
	}
	return out
}

// keepAmong keeps lots that are spread among pods that they are none of to the domains where that allows them, now that
// these others have their domains. It returns the pods that are left without any.
func (k *Searcher) keepAmong(all []*lot, beyond []*packing.Pod, t counter) ([]*lot, []*packing.Pod) {
	var lots []*lot
	for _, l := range all {
		for i := range l.simple.Among {
			s := &l.simple.Among[i]
			s.Counts = t.of(s.Group, s.Counts)
			names, sets := k.Market.ByDomain(l.offers, s.Key)
			l.offers = market.NewSet(len(k.Market.Offers))
			for _, d := range names {
				if allows(s, d, 0) {
					l.offers.Union(sets[d])
				}
			}
			l.hasAlternatives = true
		}
		if l.offers.Empty() {
			beyond = append(beyond, l.pods...)
			continue
		}
		lots = append(lots, l)
	}
	return lots, beyond
}

// divide shares the lot's pods among the domains they can reach, the emptiest
// first, as far as the skew allows. What it does not allow is returned.
func (k *Searcher) divide(l *lot, split *advice.Split, t counter) (out []*lot, left []*packing.Pod) {
	names, sets := k.Market.ByDomain(l.offers, split.Key)
	there := k.ExistingByDomain(l.class, split.Key)
	for d := range there {
		if sets[d] == nil {
			names = append(names, d)
		}
	}
	slices.Sort(names)
	counts := split.Counts
	share := map[string]int{}
	cost := k.costs(l, split.Key, names, sets)
	placed, from := 0, 0
	for ; placed < len(l.pods); placed++ {
		best := ""
		for _, d := range names {
			if best == "" || cmp.Or(cmp.Compare(counts[d], counts[best]), cmp.Compare(t.sum(l.counted, d), t.sum(l.counted, best)), cmp.Compare(cost[d], cost[best])) < 0 {
				best = d
			}
		}
		if best == "" || !allows(split, best, 1) {
			break
		}
		if len(cost) > 0 && len(l.counted) == 0 && split.MinDomains == 0 && !split.Alone {
			best = cheapestWithin(split, names, cost, best)
		}
		if b := k.roomIn(there, best, l.pods[from], split.Key); b != nil {
			k.Join(b, l.pods[from])
			from++
		} else if sets[best] == nil {
			names = slices.DeleteFunc(names, func(d string) bool { return d == best })
			placed--
			continue
		} else {
			share[best]++
		}
		counts[best]++
		t.add(l, l.counted, best, 1)
	}
	left = l.pods[placed:]
	rest := *l
	rest.pods = l.pods[from:]
	return rest.parts(names, sets, share), left
}

// roomIn returns a machine of the domain that takes the pod, given that its
// class will be spread over the domains of the key as it should be.
func (k *Searcher) roomIn(there map[string][]*packing.Bin, d string, x *packing.Pod, key string) *packing.Bin {
	for len(there[d]) > 0 {
		b := there[d][0]
		if k.Accepts(b, x, key) {
			return b
		}
		there[d] = there[d][1:]
	}
	return nil
}

// divideSoftly shares the lot's pods among the domains in which they cost no more than the spread is worth to them.
func (k *Searcher) divideSoftly(l *lot, t counter) []*lot {
	names, sets := k.Market.ByDomain(l.offers, l.wish.Split.Key)
	least := packing.UnitCost(k.Packing, l.class, l.offers, len(l.pods))
	for _, d := range names {
		if packing.UnitCost(k.Packing, l.class, sets[d], len(l.pods))-least > 1000*int64(k.Options.Regret(l.wish.Weight)) {
			for i := range sets[d].All {
				l.offers.Drop(i)
			}
			l.hasAlternatives = true
		}
	}
	split := *l.wish.Split
	split.MaxSkew, split.MinDomains = len(l.pods)+1, 0
	out, left := k.divide(l, &split, t)
	if len(left) > 0 {
		rest := *l
		rest.pods = left
		out = append(out, &rest)
	}
	return out
}

// cheapestWithin is the domain in which one more pod costs least, of those in which the skew allows it although no other domain had
// more than it has now; else the emptiest. Every domain that can be reached counts as if it had machines, as pods are spread for
// the day on which one is lost.
func cheapestWithin(split *advice.Split, names []string, cost map[string]int64, emptiest string) string {
	best := emptiest
	least := split.Counts[emptiest]
	for _, n := range split.Counts {
		least = min(least, n)
	}
	for _, d := range names {
		if cost[d] < cost[best] && split.Counts[d]+1-least <= split.MaxSkew && allows(split, d, 1) {
			best = d
		}
	}
	return best
}

// costs is about what a pod of the lot costs in each of the domains; empty where it costs the same in all.
func (k *Searcher) costs(l *lot, key string, names []string, sets map[string]market.Set) map[string]int64 {
	if len(names) < 2 || k.alike(key) {
		return nil
	}
	id := priced{l.class.Demands, key, roughly(l.need)}
	if known, ok := k.prices[id]; ok {
		return known
	}
	out := map[string]int64{}
	for _, d := range names {
		if sets[d] != nil {
			out[d] = packing.UnitCost(k.Packing, l.class, sets[d], len(l.pods))
		}
	}
	if k.prices == nil {
		k.prices = map[priced]map[string]int64{}
	}
	k.prices[id] = out
	return out
}

// roughly names a need by the magnitude of each of its numbers.
func roughly(need []int64) string {
	out := make([]byte, len(need))
	for d, n := range need {
		out[d] = byte(bits.Len64(uint64(n)))
	}
	return string(out)
}

// alike reports whether every type that is sold is sold in all domains of the key alike, at the same price.
func (k *Searcher) alike(key string) bool {
	if known, ok := k.sameIn[key]; ok {
		return known
	}
	if k.sameIn == nil {
		k.sameIn = map[string]bool{}
	}
	k.sameIn[key] = k.Market.Alike(key)
	return k.sameIn[key]
}

// allows reports whether so many more pods that count may go to domain d.
func allows(s *advice.Split, d string, pods int) bool {
	if s.Alone {
		return s.Counts[d] == 0
	}
	known, least := len(s.Counts), s.Counts[d]
	if _, ok := s.Counts[d]; !ok {
		known++
	}
	for _, n := range s.Counts {
		least = min(least, n)
	}
	if known < s.MinDomains {
		least = 0
	}
	return s.Counts[d]+pods-least <= s.MaxSkew
}
