package search

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/spread"
)

// divideAll divides the lots that are to be spread over domains. It returns the
// pods that would be one too many wherever they went.
func (k *Searcher) divideAll(all []*lot) (lots []*lot, beyond []*packing.Pod) {
	counts := map[int32]map[string]int{} // of groups, whose lots are counted together
	for _, l := range all {
		switch split := l.simple.Split; {
		case split != nil:
			if counts[split.Group] == nil {
				counts[split.Group] = split.Counts
			}
			split.Counts = counts[split.Group]
			divided, left := k.divide(l, split)
			lots, beyond = append(lots, divided...), append(beyond, left...)
		case l.wish.Split != nil:
			lots = append(lots, k.divideSoftly(l)...)
		default:
			lots = append(lots, l)
		}
	}
	return lots, beyond
}

// divide shares the lot's pods among the domains they can reach, the emptiest
// first, as far as the skew allows. What it does not allow is returned.
func (k *Searcher) divide(l *lot, split *spread.Split) (out []*lot, left []*packing.Pod) {
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
	placed, from := 0, 0
	for ; placed < len(l.pods); placed++ {
		best := ""
		for _, d := range names {
			if best == "" || counts[d] < counts[best] {
				best = d
			}
		}
		if best == "" || !allows(split, best) {
			break
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
	}
	for _, d := range names {
		if share[d] == 0 {
			continue
		}
		part := *l
		part.name, part.offers, part.pods = l.name+" "+d, sets[d], l.pods[from:from+share[d]]
		part.hasAlternatives = l.hasAlternatives || len(names) > 1
		out = append(out, &part)
		from += share[d]
	}
	return out, l.pods[placed:]
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
func (k *Searcher) divideSoftly(l *lot) []*lot {
	names, sets := k.Market.ByDomain(l.offers, l.wish.Split.Key)
	least := k.UnitCost(l.class, l.offers, len(l.pods))
	for _, d := range names {
		if k.UnitCost(l.class, sets[d], len(l.pods))-least > 1000*k.Options.Regret(l.wish.Weight) {
			for i := range sets[d].All {
				l.offers.Drop(i)
			}
			l.hasAlternatives = true
		}
	}
	split := *l.wish.Split
	split.MaxSkew, split.MinDomains = len(l.pods)+1, 0
	out, left := k.divide(l, &split)
	if len(left) > 0 {
		rest := *l
		rest.pods = left
		out = append(out, &rest)
	}
	return out
}

// allows reports whether one more pod may go to domain d.
func allows(s *spread.Split, d string) bool {
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
	return s.Counts[d]+1-least <= s.MaxSkew
}
