package pack

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/spread"
)

// lot is pods of one class that go to the same kind of machines: all of it, or its share of one domain.
type lot struct {
	class  *packing.Class
	name   string
	simple spread.Simple
	wish   spread.Wish
	offers market.Set
	need   []int64 // of one piece
	pods   []*packing.Pod
	whole  bool // all pods are one piece: they have to share one machine
	told   bool // it might have been placed in other domains, or on other offers
}

// pieces is how many things there are to place.
func (l *lot) pieces() int {
	if l.whole {
		return 1
	}
	return len(l.pods)
}

// take returns the pods of the first so many pieces, and what is left of the lot is without them.
func (l *lot) take(pieces int) []*packing.Pod {
	if l.whole {
		pieces = len(l.pods)
	}
	out := l.pods[:pieces]
	l.pods = l.pods[pieces:]
	return out
}

// lots divides the pods that are left into those that can be handled as lots, and the rest.
func (k *searcher) lots() (lots []*lot, rest []*packing.Pod) {
	crowds, others := k.crowds(k.Unplaced)
	for _, x := range crowds {
		if l, ok := k.crowdLot(x); ok {
			lots = append(lots, l)
		} else {
			rest = append(rest, x.pods...)
		}
	}
	for c, pods := range packing.ByClass(others) {
		pods = slices.Clone(pods)
		if l, ok := k.lot(c, pods); ok {
			lots = append(lots, l)
		} else {
			rest = append(rest, pods...)
		}
	}
	lots, homeless := k.settleGroups(lots)
	lots, beyond := k.divideAll(lots)
	return lots, slices.Concat(rest, homeless, beyond)
}

// lot returns the pods as a lot; false if they have to be looked at one by one.
func (k *searcher) lot(c *packing.Class, pods []*packing.Pod) (*lot, bool) {
	l := &lot{class: c, name: c.Pod.String(), need: c.Need, pods: pods, offers: slices.Clone(c.Buyable), told: k.NeedsExotic}
	if c.Demands.Open || !k.Tallies.Cover(c.Pod) {
		return nil, false
	}
	var ok bool
	if l.simple, ok = k.Ledger.Simple(c.Subject); !ok {
		return nil, false
	}
	if !c.Subject.Indifferent() {
		for _, r := range k.Reachable(c) {
			if !k.Ledger.Accepts(c.Subject, k.Market.At(r)) {
				k.Market.DropTuple(l.offers, k.Market.Offers[r].Tuple)
			}
		}
	}
	return l, !l.offers.Empty()
}

// settleGroups finds a home for lots that have to be together, and weighs what
// the others wish. It returns the pods that find none.
func (k *searcher) settleGroups(all []*lot) (lots []*lot, homeless []*packing.Pod) {
	groups := map[int32][]*lot{}
	for _, l := range all {
		if h := l.simple.Home; h != nil {
			groups[h.Group] = append(groups[h.Group], l)
		}
	}
	for _, g := range sortedKeys(groups, cmp.Compare[int32]) {
		if !k.settle(groups[g], groups[g][0].simple.Home.Key) {
			for _, l := range groups[g] {
				homeless = append(homeless, l.pods...)
			}
			all = slices.DeleteFunc(all, func(l *lot) bool { return slices.Contains(groups[g], l) })
		}
	}
	if k.Options.PreferencePolicy != packing.Ignore {
		for _, l := range all {
			k.prefer(l)
			if l.whole {
				continue
			}
			l.wish = k.Ledger.Wish(l.class.Subject)
			if h := l.wish.Home; h != "" && l.simple.Home == nil && l.simple.Split == nil {
				k.settle([]*lot{l}, h)
			}
		}
	}
	return all, homeless
}

// divideAll divides the lots that are to be spread over domains. It returns the
// pods that would be one too many wherever they went.
func (k *searcher) divideAll(all []*lot) (lots []*lot, beyond []*packing.Pod) {
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

// settle chooses the domain in which lots that want to be together cost least;
// false if there is none that all of them can reach.
func (k *searcher) settle(lots []*lot, key string) bool {
	names, sets := k.Market.ByDomain(lots[0].offers, key)
	cost := map[string]int64{}
	for i, l := range lots {
		if i > 0 {
			_, sets = k.Market.ByDomain(l.offers, key)
		}
		names = slices.DeleteFunc(names, func(d string) bool { return sets[d] == nil })
		for _, d := range names {
			cost[d] += k.UnitCost(l.class, sets[d], len(l.pods)) * int64(len(l.pods))
		}
	}
	if len(names) == 0 {
		return false
	}
	best := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(cost[a], cost[b]) })
	for _, l := range lots {
		_, sets = k.Market.ByDomain(l.offers, key)
		l.offers = sets[best]
		l.told = l.told || len(names) > 1
	}
	return true
}

// prefer keeps the lot to the offers with the least regret, if that costs less than the regret is worth.
func (k *searcher) prefer(l *lot) {
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
		cost := k.UnitCost(l.class, byRegret[r], len(l.pods)) + 1000*k.Options.Regret(r)
		if best < 0 || cost < least {
			best, least = r, cost
		}
	}
	for _, r := range regrets {
		if r > best {
			l.told = true
			for i := range byRegret[r].All {
				l.offers.Drop(i)
			}
		}
	}
}

// divide shares the lot's pods among the domains they can reach, the emptiest
// first, as far as the skew allows. What it does not allow is returned.
func (k *searcher) divide(l *lot, split *spread.Split) (out []*lot, left []*packing.Pod) {
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
		part.told = l.told || len(names) > 1
		out = append(out, &part)
		from += share[d]
	}
	return out, l.pods[placed:]
}

// roomIn returns a machine of the domain that takes the pod, given that its
// class will be spread over the domains of the key as it should be.
func (k *searcher) roomIn(there map[string][]*packing.Bin, d string, x *packing.Pod, key string) *packing.Bin {
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
func (k *searcher) divideSoftly(l *lot) []*lot {
	names, sets := k.Market.ByDomain(l.offers, l.wish.Split.Key)
	least := k.UnitCost(l.class, l.offers, len(l.pods))
	for _, d := range names {
		if k.UnitCost(l.class, sets[d], len(l.pods))-least > 1000*k.Options.Regret(l.wish.Weight) {
			for i := range sets[d].All {
				l.offers.Drop(i)
			}
			l.told = true
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
