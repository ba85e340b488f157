package solve

import (
	"cmp"
	"slices"
)

// Solve places all items it can on hosts it opens, at a cost as low as it can find.
func Solve(p Problem) Answer {
	m := compile(p)
	if len(m.classes) == 0 {
		return m.answer(p, &solution{})
	}
	s := &search{m: m, packer: newPacker(m)}
	s.start(p)
	s.relax()
	if !s.solved {
		s.pour()
		s.improve(cmp.Or(p.Steps, DefaultSteps))
	}
	return s.finish(p)
}

// search collects solutions and knows the best.
type search struct {
	m      *model
	packer *packer
	fluid  *fluid
	best   *solution
	given  *solution // the cheapest of the solutions that the answer may not be dearer than
	proven int64     // a bound found on the way
	solved bool      // the best solution is known to be the best there is
	steps  int
}

// offer makes s the best solution if it is: what leaves out less is better, then what costs less with the charge.
func (s *search) offer(x *solution) {
	if x == nil {
		return
	}
	for _, n := range x.left {
		if n > 0 {
			s.m.topUp(x)
			break
		}
	}
	if s.best == nil || cmp.Or(s.m.missing(x, s.best), cmp.Compare(s.m.goal(x), s.m.goal(s.best))) < 0 {
		s.best = x
	}
}

// give offers a solution that the answer may not be dearer than.
func (s *search) give(x *solution) {
	if x == nil {
		return
	}
	s.offer(x)
	if s.given == nil || cmp.Or(s.m.missing(x, s.given), cmp.Compare(s.m.cost(x), s.m.cost(s.given))) < 0 {
		s.given = x
	}
}

// start offers what is known and what is quickly found.
func (s *search) start(p Problem) {
	for _, a := range p.Seeds {
		s.give(s.m.seed(a))
	}
	s.give(s.m.firstFit())
	s.solved = s.affordable(s.m.only()) || s.affordable(s.m.exact(s.m.charge, &s.steps))
	if x := s.m.exact(0, &s.steps); x != nil {
		s.proven = s.m.cost(x)
		if s.affordable(x) {
			s.give(x)
		}
	}
}

// affordable offers a solution that was found without looking at budgets, if they allow it.
func (s *search) affordable(x *solution) bool {
	if x == nil {
		return false
	}
	for _, left := range s.m.drawn(x) {
		if left < 0 {
			return false
		}
	}
	s.offer(x)
	return true
}

// relax finds prices.
func (s *search) relax() {
	s.fluid = newFluid(s.m, s.m.charge)
	s.fluid.climb(150, 0.6, 0.1)
}

// pour tries the greedy search in all styles.
func (s *search) pour() {
	k := s.packer
	for _, st := range styles(len(s.fluid.limits) > 0) {
		for c := range k.rem {
			k.rem[c] = s.m.classes[c].count
		}
		budgets := append([]int64{}, s.m.budgets...)
		p := s.fluid.clone().prices(st.loose)
		x := &solution{nodes: k.greedy(p, st, allClasses(s.m), budgets), left: slices.Clone(k.rem)}
		for i := range x.nodes {
			s.m.downsize(&x.nodes[i], budgets)
		}
		s.offer(x)
	}
	if s.lacking() {
		s.offer(k.ration(s.fluid, false))
		s.offer(k.ration(s.fluid, true))
	}
}

// lacking reports whether the best solution leaves something out.
func (s *search) lacking() bool {
	return slices.ContainsFunc(s.best.left, func(n int) bool { return n > 0 })
}

// improve works on the best solution.
func (s *search) improve(steps int) {
	s.offer(s.packer.improve(s.best, s.fluid, s.m.drawn(s.best), steps))
}

// finish chooses the answer and proves how good it is.
func (s *search) finish(p Problem) Answer {
	best := s.best
	if s.m.missing(best, s.given) == 0 && s.m.cost(best) > s.m.cost(s.given) {
		best = s.given
	}
	placed := make([]int, len(s.m.classes))
	whole := true
	for c := range placed {
		placed[c] = s.m.classes[c].count - best.left[c]
		whole = whole && best.left[c] == 0
	}
	a := s.m.answer(p, best)
	var worth []int64
	for _, f := range s.plain() {
		if bound, w := f.bound(placed); worth == nil || bound > a.Bound {
			a.Bound, worth = bound, w
		}
		s.steps += f.steps
	}
	if whole {
		a.Bound = max(a.Bound, s.proven)
	}
	for c, w := range worth {
		a.Duals[s.m.classes[c].item] = w >> moneyBits
	}
	a.Steps = s.steps + s.packer.steps + s.fluid.steps
	return a
}

// plain returns relaxations without the charge, one that goes on from the prices of the search and one that starts anew:
// the ascent can get stuck, seldom twice.
func (s *search) plain() [2]*fluid {
	on, anew := newFluid(s.m, 0), newFluid(s.m, 0)
	copy(on.share, s.fluid.share)
	copy(on.toll, s.fluid.toll)
	for l, fee := range s.fluid.fee {
		on.fee[l] = max(fee-float64(s.m.charge)/on.limits[l].cap, 0)
	}
	on.climb(100, 0.2, 0.02)
	anew.climb(150, 0.6, 0.1)
	return [2]*fluid{on, anew}
}

// styles are the starts of the search. Caps want hosts that are no larger than a fair share.
func styles(capped bool) []style {
	if !capped {
		return []style{
			{slack: 1, pull: 0, again: .95, loose: .03},
			{slack: 1, pull: .5, again: .85, loose: .15},
			{slack: 2, pull: 2, again: .95, loose: .03},
			{slack: 4, pull: 1, again: .95, loose: .03},
		}
	}
	return []style{
		{slack: 2, pull: 2, again: .9, loose: .03},
		{slack: 1, pull: .5, again: .9, loose: .03, crowd: 1.5},
		{slack: 4, pull: 2, again: .9, loose: .03, crowd: 2},
	}
}
