package search

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/exact"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/spread/advice"
)

// lot is pods of one class that go to the same kind of machines: all of it, or its share of one domain; or colocated pods of the same classes.
type lot struct {
	class           *packing.Class
	name            string
	simple          advice.Simple
	counted         []int32 // groups that are spread over domains, count its pods and hold it to nothing
	wish            advice.Wish
	offers          market.Set
	need            []int64 // of one piece
	pods            []*packing.Pod
	piece           int  // so many pods, one after the other, have to share one machine; 0: each goes where it likes
	hasAlternatives bool // it might have been placed in other domains, or on other offers
}

// pieces is how many things there are to place.
func (l *lot) pieces() int { return len(l.pods) / max(l.piece, 1) }

// take returns the pods of the first so many pieces, and what is left of the lot is without them.
func (l *lot) take(pieces int) []*packing.Pod {
	n := pieces * max(l.piece, 1)
	out := l.pods[:n]
	l.pods = l.pods[n:]
	return out
}

// lot returns the pods as a lot; false if they have to be looked at one by one.
func (k *Searcher) lot(c *packing.Class, pods []*packing.Pod) (*lot, bool) {
	l := &lot{class: c, name: c.Pod.String(), need: c.Need, pods: pods, offers: slices.Clone(c.Buyable), hasAlternatives: k.NeedsExotic}
	if c.Demands.Open || !k.Counters.Cover(c.Pod) {
		return nil, false
	}
	var ok bool
	if l.simple, ok = k.Advice.Simple(c.PodInfo); !ok {
		return nil, false
	}
	if !c.PodInfo.Indifferent() {
		for _, r := range k.Reachable(c) {
			if !k.Ledger.Accepts(c.PodInfo, k.Market.At(r)) {
				k.Market.DropDomainSet(l.offers, k.Market.Offers[r].DomainSet)
			}
		}
	}
	l.counted = k.countedOn(c, l.simple.Counted)
	return l, !l.offers.Empty()
}

// countedOn are those of the groups that count pods of the class on some machine that may be bought for it.
func (k *Searcher) countedOn(c *packing.Class, groups []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(groups), func(g int32) bool {
		return !slices.ContainsFunc(k.Reachable(c), func(r int) bool { return k.Advice.CountsOn(g, k.Market.At(r)) })
	})
}

// settle chooses the domain in which lots that want to be together cost least;
// false if there is none that all of them can reach.
func (k *Searcher) settle(lots []*lot, key string) bool {
	names, sets := k.Market.ByDomain(lots[0].offers, key)
	cost := map[string]int64{}
	for i, l := range lots {
		if i > 0 {
			_, sets = k.Market.ByDomain(l.offers, key)
		}
		names = slices.DeleteFunc(names, func(d string) bool { return sets[d] == nil })
		for _, d := range names {
			cost[d] += packing.UnitCost(k.Packing, l.class, sets[d], len(l.pods)) * int64(len(l.pods))
		}
	}
	if len(names) == 0 {
		return false
	}
	best := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(cost[a], cost[b]) })
	for _, l := range lots {
		_, sets = k.Market.ByDomain(l.offers, key)
		l.offers = sets[best]
		l.hasAlternatives = l.hasAlternatives || len(names) > 1
	}
	return true
}

// prefer keeps the lot to the offers with the least regret, if that costs less than the regret is worth.
func (k *Searcher) prefer(l *lot) {
	if k.Options.PreferencePolicy == packing.Ignore || len(l.class.Wishes) == 0 && !k.Market.SoftPools() {
		return
	}
	byRegret := map[int]market.Set{}
	var regrets []int
	for i := range l.offers.All {
		r := l.class.Regret(k.Packing, i)
		if byRegret[r] == nil {
			byRegret[r] = market.NewSet(len(k.Market.Offers))
			regrets = append(regrets, r)
		}
		byRegret[r].Add(i)
	}
	if len(regrets) < 2 {
		return
	}
	slices.Sort(regrets)
	best, least := -1, int64(0)
	for _, r := range regrets {
		cost := packing.UnitCost(k.Packing, l.class, byRegret[r], len(l.pods)) + 1000*int64(k.Options.Regret(r))
		if best < 0 || cost < least {
			best, least = r, cost
		}
	}
	for _, r := range regrets {
		if r > best {
			l.hasAlternatives = true
			for i := range byRegret[r].All {
				l.offers.Drop(i)
			}
		}
	}
}

// groupLot returns the group as a lot of one piece; false if it has to be looked at by itself.
func (k *Searcher) groupLot(x *exact.Group) (*lot, bool) {
	quarrels := slices.ContainsFunc(x.Simple.Owns, func(g int32) bool { return slices.Contains(x.Simple.Shunned, g) })
	if x.Hard || quarrels || x.Offers.Empty() {
		return nil, false
	}
	c := x.Pods[0].Class
	offers := k.Market.KeepOrdinary(slices.Clone(x.Offers), x.Pinned())
	return &lot{class: c, name: c.Pod.String(), pods: x.Pods, need: x.Need, piece: len(x.Pods), offers: offers, simple: x.Simple, counted: x.Simple.Counted, hasAlternatives: k.NeedsExotic}, true
}

func sortedKeys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	out := make([]K, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.SortFunc(out, compare)
	return out
}
