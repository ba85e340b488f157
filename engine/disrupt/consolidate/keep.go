package consolidate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
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
	for _, g := range s.plan.Going {
		commanded[g.Claim] = true
	}
	s.rank(s.open())
	for i := range s.machines {
		m := &s.machines[i]
		if m.place.Claim == nil || commanded[m.place.Claim.Name] {
			continue
		}
		k := Kept{Claim: m.place.Claim.Name, Pool: m.place.Pool(), Price: m.price, Why: m.why}
		if m.place.Node != nil {
			k.Node = m.place.Node.Name
		}
		if k.Why == nil {
			k.Why = s.whyKept(i)
		}
		s.plan.Kept = append(s.plan.Kept, k)
	}
	slices.SortFunc(s.plan.Kept, func(a, b Kept) int { return strings.Compare(a.Node+a.Claim, b.Node+b.Claim) })
	s.plan.Bound = s.yard.Worth()
}

// whyKept tries to clear one machine, given all commands that start now, and says what comes of it.
func (s *search) whyKept(i int) *reason.Why {
	m := &s.machines[i]
	mark := s.yard.Mark()
	defer s.yard.Undo(mark)
	pods := s.yard.Count(i)
	s.yard.Clear(i)
	left := s.yard.Settle(s.takers, false)
	why := &reason.Why{Subject: m.place.Name()}
	value, buyable := s.yard.Value()
	switch {
	case left == 0 && m.price-m.effort >= s.options.leastSaving():
		why.Code = reason.AfterOthers
		why.Detail = fmt.Sprintf("other nodes have room for its %s only as long as those that are held up, or stay after all, need none", count(pods, "pod"))
	case left == 0:
		why.Code = reason.SavesLittle
		why.Detail = fmt.Sprintf("other nodes have room for its %s; that saves %s an hour, and has to save %s: %s for what moves, and %s besides",
			count(pods, "pod"), money(m.price), money(m.effort+s.options.leastSaving()), money(m.effort), money(s.options.leastSaving()))
	case !buyable:
		why.Code = reason.NoPlace
		why.Detail = homeless(left, pods) + ", and for some of them nothing can be bought"
	case m.tried != nil:
		why.Code, why.Detail, why.Hint = m.tried.Code, homeless(left, pods)+": "+m.tried.Detail, m.tried.Hint
	default:
		why.Code = reason.NotCheaper
		why.Detail = fmt.Sprintf("%s; new ones for them cost %s an hour at least, moving all has to save %s, and it costs %s",
			homeless(left, pods), money(value), money(m.effort), money(m.price))
	}
	if left > 0 && slices.Contains(s.options.Explain, m.place.Name()) {
		why.Causes = s.yard.Objections()
	}
	return why
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
