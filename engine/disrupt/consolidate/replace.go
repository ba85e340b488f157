package consolidate

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/reason"
)

// premium is how much dearer pods come that machines are bought for than the
// relaxation says they are worth, in percent.
const premium = 104

// replace buys machines for the pods of machines that cost more than these are
// worth, few machines at a time, and reports whether it did. Machines of which
// pods were put onto one that is replaced go together with it.
func (s *search) replace() bool {
	open := s.open()
	receivers := s.receivers(open)
	before := len(s.groups)
	var batch, party []int
	for _, i := range open {
		homes := s.yard.Homes(i)
		if 1+len(homes) > s.options.group() || s.bound(homes) || !s.dear(i, receivers) {
			continue
		}
		if n := len(union(party, append(homes, i))); n > s.options.group() {
			s.try(batch, receivers)
			batch, party = nil, nil
		}
		batch, party = append(batch, i), union(party, append(homes, i))
	}
	s.try(batch, receivers)
	return len(s.groups) > before
}

// bound reports whether some of the machines belong to a group already.
func (s *search) bound(machines []int) bool {
	return slices.ContainsFunc(s.groups, func(g group) bool {
		return slices.ContainsFunc(g.machines, func(i int) bool { return slices.Contains(machines, i) })
	})
}

func union(a, b []int) []int {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// dear reports whether a machine costs more than moving its pods and than what
// those that fit on no other machine are worth.
func (s *search) dear(i int, receivers []int) bool {
	y, m := s.yard, &s.machines[i]
	if m.price-m.effort < s.options.leastSaving() {
		return false
	}
	mark := y.Mark()
	y.Clear(i)
	y.Settle(receivers)
	value, buyable := y.Value()
	y.Undo(mark)
	return buyable && m.price-m.effort-value*premium/100 >= s.options.leastSaving()
}

// try replaces the machines together, or those of them with which that pays.
func (s *search) try(machines, receivers []int) {
	for len(machines) > 0 {
		mark := s.yard.Mark()
		g, why, like := s.purchase(machines, receivers)
		if why == nil {
			if len(g.bought) > 0 {
				s.groups = append(s.groups, g)
			}
			for _, i := range machines {
				s.machines[i].gone = true
			}
			return
		}
		s.yard.Undo(mark)
		switch {
		case like >= 0: // it would be bought again: keep it, and try the others
			s.machines[like].tried = why
			machines = slices.DeleteFunc(slices.Clone(machines), func(i int) bool { return i == like })
		case len(machines) == 1:
			s.machines[machines[0]].tried = why
			return
		default:
			half := len(machines) / 2
			s.try(machines[:half], receivers)
			machines = machines[half:]
		}
	}
}

// purchase buys for the pods of the machines that are left over. It says why
// that does not pay, and which of the machines would be bought again, or -1.
func (s *search) purchase(machines, receivers []int) (g group, why *reason.Why, like int) {
	price, effort := int64(0), int64(0)
	party := machines
	for _, i := range machines {
		party = union(party, s.yard.Homes(i))
	}
	if s.bound(party) {
		return g, &reason.Why{Code: reason.AfterOthers, Detail: "pods that were put onto it are replaced with others"}, -1
	}
	for _, i := range machines {
		s.yard.Clear(i)
		price += s.machines[i].price
		effort += s.machines[i].effort
	}
	s.yard.Settle(receivers)
	bought, ok := s.yard.Buy()
	if !ok {
		return g, &reason.Why{Code: reason.NoPlace, Detail: "for some of its pods no machine can be bought"}, -1
	}
	cost := int64(0)
	for _, j := range bought {
		cost += s.yard.Price(j)
	}
	g = group{machines: party, bought: bought, saving: price - cost}
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
func (s *search) pays(g group, price, effort int64) *reason.Why {
	switch {
	case g.saving <= 0:
		return &reason.Why{Code: reason.NotCheaper, Detail: fmt.Sprintf("what its pods need instead costs %s an hour, and it costs %s", money(price-g.saving), money(price))}
	case g.saving < s.options.leastSaving():
		return &reason.Why{Code: reason.SavesLittle, Detail: fmt.Sprintf("replacing it saves %s an hour, and a command has to save %s", money(g.saving), money(s.options.leastSaving()))}
	case len(g.bought) > 0 && g.saving*100 < price*s.options.leastShare():
		return &reason.Why{Code: reason.SavesLittle, Detail: fmt.Sprintf("replacing it saves %s of %s an hour, and has to save %d %%", money(g.saving), money(price), s.options.leastShare())}
	case g.saving < effort:
		return &reason.Why{Code: reason.SavesLittle, Detail: fmt.Sprintf("replacing it saves %s an hour, and moving its pods has to save %s", money(g.saving), money(effort))}
	}
	return nil
}

// money writes millionths as units.
func money(micro int64) string { return fmt.Sprintf("%.4f", float64(micro)/1e6) }
