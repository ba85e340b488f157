package search

import (
	"math/bits"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/spread/advice"
)

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
