package consolidate

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// replace buys machines for the pods that are left over, in groups of few
// machines. A group that does not pay is divided, and at last stays.
func (s *search) replace() {
	var left []int
	for i := range s.machines {
		if s.cluster.HasAside(i) {
			left = append(left, i)
		}
	}
	s.rank(s.open())
	rooms := s.rooms()
	var batch []int
	count := map[world.PoolID]int{}
	for _, i := range left {
		pool := s.machines[i].place.Pool()
		full := count[pool] > 0 && count[pool] >= rooms[pool] && !s.options.Unbudgeted // more could never go at once
		if full || len(batch) == s.options.group() {
			s.try(batch)
			batch = nil
			clear(count)
		}
		batch = append(batch, i)
		count[pool]++
	}
	s.try(batch)
	for _, i := range slices.Clone(s.spared) { // by itself it may be another matter, unless pods of others are there now
		if s.cluster.Count(i) == len(s.cluster.Movable(i)) && s.take(i, true) {
			s.try([]int{i})
		}
	}
}

// try replaces the machines together, or those of them with which that pays.
func (s *search) try(machines []int) {
	for len(machines) > 0 {
		mark := s.cluster.Mark()
		g, why, like := s.purchase(machines)
		if why == nil {
			s.cluster.Commit(mark)
			if len(g.bought) > 0 {
				s.groups = append(s.groups, g)
			}
			return
		}
		s.cluster.Undo(mark)
		switch {
		case like >= 0: // it would be bought again: keep it, and try the others
			s.restore(like, why)
			s.spared = append(s.spared, like)
			machines = slices.DeleteFunc(slices.Clone(machines), func(i int) bool { return i == like })
		case len(machines) == 1:
			s.restore(machines[0], why)
			return
		default:
			half := len(machines) / 2
			s.try(machines[:half])
			machines = machines[half:]
		}
	}
}

// restore keeps a machine after all.
func (s *search) restore(i int, why *reason.Why) {
	s.cluster.Restore(i)
	m := &s.machines[i]
	m.gone, m.tried = false, why
	if m.takes && !s.takers.Has(i) {
		s.takers.Append(i)
	}
}

// purchase buys for the pods of the machines that are left over. It says why
// that does not pay, and which of the machines would be bought again, or -1.
func (s *search) purchase(machines []int) (g group, why *reason.Why, like int) {
	price, effort := money.Micro(0), money.Micro(0)
	for _, i := range machines {
		s.cluster.Recall(i)
		price += s.machines[i].price
		effort += s.machines[i].effort
	}
	s.cluster.Settle(s.takers, false)
	bought, ok := s.cluster.Buy()
	if !ok {
		return g, &reason.Why{Code: reason.NoPlace, Detail: "for some of its pods no machine can be bought"}, -1
	}
	cost := money.Micro(0)
	for _, j := range bought {
		cost += s.cluster.Price(j)
	}
	g = group{machines: machines, bought: bought, saving: price - cost}
	if why := s.pays(g, price, effort); why != nil {
		return g, why, -1
	}
	if why, g.asks = nil, nil; len(bought) > 0 {
		g.asks, why = s.bind(g, price)
	}
	for _, a := range g.asks {
		for _, i := range machines {
			if a.CapacityType == s.machines[i].offer.CapacityType && a.Shape == s.shape(i) {
				return g, &reason.Why{Code: reason.NotCheaper, Detail: "its pods need another machine like it"}, i
			}
		}
	}
	return g, why, -1
}

// pays says why a group saves too little; nil if it does not.
func (s *search) pays(g group, price, effort money.Micro) *reason.Why {
	saves := fmt.Sprintf("replacing it saves %s of %s an hour%s", s.money(g.saving), s.money(price), s.included())
	why := &reason.Why{Code: reason.SavesLittle, Hint: s.spotOnly(g.machines)}
	switch {
	case g.saving <= 0:
		return &reason.Why{Code: reason.NotCheaper, Detail: fmt.Sprintf("a replacement costs %s an hour, and this one costs %s%s: nothing would be saved", s.money(price-g.saving), s.money(price), s.included())}
	case g.saving < s.options.leastSaving():
		why.Detail = fmt.Sprintf("%s, and any change has to save %s", saves, s.money(s.options.leastSaving()))
	case len(g.bought) > 0 && g.saving < price.PartUp(s.options.leastShare(), 100):
		why.Detail = fmt.Sprintf("%s, and has to save %d %%", saves, s.options.leastShare())
	case g.saving < effort:
		why.Detail = fmt.Sprintf("%s, and a change that evicts its pods has to save %s", saves, s.money(effort))
	default:
		return nil
	}
	return why
}
