package consolidate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
)

// keep says of every machine of a pool that no command gives back why it stays.
func (s *search) keep() {
	commanded := map[string]bool{}
	for _, c := range s.plan.Commands {
		for _, g := range c.Back {
			commanded[g.Claim] = true
		}
	}
	for _, g := range s.going {
		commanded[g.Claim] = true
	}
	s.rank(s.open())
	for i := range s.machines {
		m := &s.machines[i]
		if m.place.Claim == nil || commanded[m.place.Claim.Name] {
			continue
		}
		k := plan.Kept{Claim: m.place.Claim.Name, Pool: m.place.Pool(), Reason: plan.Underutilized, Price: m.price - m.charge, Why: m.why}
		if m.place.Node != nil {
			k.Node = m.place.Node.Name
		}
		if k.Why == nil {
			k.Why = s.whyKept(i)
		}
		s.plan.Kept = append(s.plan.Kept, k)
	}
	slices.SortFunc(s.plan.Kept, func(a, b plan.Kept) int { return strings.Compare(a.Node+a.Claim, b.Node+b.Claim) })
	s.plan.Least = s.cluster.Worth()
}

// whyKept tries to clear one machine, given all commands that start now, and says what comes of it.
func (s *search) whyKept(i int) *reason.Why {
	m := &s.machines[i]
	mark := s.cluster.Mark()
	defer s.cluster.Undo(mark)
	pods := s.cluster.Count(i)
	s.cluster.Clear(i)
	left := s.cluster.Settle(s.takers, false)
	why := &reason.Why{Subject: m.place.Name()}
	value, buyable := s.cluster.Value()
	switch {
	case left == 0 && m.price-m.effort >= s.options.leastSaving():
		why.Code = reason.AfterOthers
		why.Detail = fmt.Sprintf("its %s would fit on other nodes, but that room is kept for nodes whose disruption is held up or called off", amount.Count(pods, "pod"))
	case left == 0:
		why.Code = reason.SavesLittle
		why.Detail = fmt.Sprintf("other nodes have room for its %s; giving it back saves %s an hour%s, and a move has to save %s: %s for the pods that are evicted, and %s in any case",
			amount.Count(pods, "pod"), s.money(m.price), s.included(), s.money(m.effort+s.options.leastSaving()), s.money(m.effort), s.money(s.options.leastSaving())) + m.more()
	case !buyable:
		why.Code = reason.NoPlace
		why.Detail = homeless(left, pods) + ", and for some of them nothing can be bought"
	case m.tried != nil:
		why.Code, why.Detail, why.Hint = m.tried.Code, homeless(left, pods)+": "+m.tried.Detail, m.tried.Hint
	default:
		why.Code = reason.NotCheaper
		why.Detail = homeless(left, pods) + "; " + s.onNewNodes(value, m)
		if value < m.price {
			why.Hint = s.spotOnly([]int{i})
		}
	}
	if left > 0 && slices.Contains(s.options.Explain, m.place.Name()) {
		why.Causes = s.cluster.Objections()
	}
	return why
}

// leastPriceShown is the least that a price shows.
const leastPriceShown = 100

// onNewNodes says what new nodes for a machine's pods would cost at the least, and
// what that leaves to be saved.
func (s *search) onNewNodes(value money.Micro, m *machine) string {
	least := max(m.effort, s.options.leastSaving())
	switch saves := m.price - value; {
	case saves < leastPriceShown:
		return fmt.Sprintf("new nodes for what is left over would cost %s an hour or more, and this one costs %s%s: nothing would be saved", s.money(value), s.money(m.price), s.included())
	case saves < least:
		return fmt.Sprintf("new nodes for what is left over would cost %s an hour or more, and this one costs %s%s: that saves %s at most, and a change that evicts its pods has to save %s",
			s.money(value), s.money(m.price), s.included(), s.money(saves), s.money(least)) + m.more()
	}
	return fmt.Sprintf("new nodes for what is left over would cost %s an hour at the very best, and this one costs %s%s: none were found that save %s, as a change that evicts its pods has to",
		s.money(value), s.money(m.price), s.included(), s.money(least)) + m.more()
}

// more says that moving the pods of a machine has to save more than usual, if that is so.
func (m *machine) more() string {
	if !m.justMoved {
		return ""
	}
	return "; that is more than usual, since pods were moved to it or from it lately"
}

// spotOnly is the hint for machines that could be replaced by spot machines
// alone: these are not looked for where all of them are spot already.
func (s *search) spotOnly(machines []int) string {
	if s.options.SpotToSpot || slices.ContainsFunc(machines, func(i int) bool { return s.machines[i].offer.CapacityType != label.Spot }) {
		return ""
	}
	return "a spot node is replaced by spot nodes only with the gate SpotToSpotConsolidation on"
}

// shape is what type a machine is of.
func (s *search) shape(i int) string { return s.machines[i].place.Labels()[label.InstanceType] }

// homeless says how many of a machine's pods fit on no other.
func homeless(left, pods int) string {
	switch {
	case pods == 1:
		return "its pod fits on no other node"
	case left == pods:
		return fmt.Sprintf("none of its %d pods fits on another node", pods)
	}
	return fmt.Sprintf("%d of its %d pods fit on no other node", left, pods)
}

// included says that costs have the charges for nodes in them, where they do.
func (s *search) included() string {
	if s.cluster.Charged() {
		return ", charges for nodes included"
	}
	return ""
}

// money writes a price in the currency of the plan.
func (s *search) money(of money.Micro) string { return of.Text(s.plan.Currency) }
