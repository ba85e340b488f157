package solve

import (
	"cmp"
	"slices"
)

// searchesForPlaced is how often what has been placed is searched for again.
const searchesForPlaced = 2

// solveWhole solves a problem without slices. Where budgets do not suffice for everything it searches again for what the first search
// has placed: as long as it is open what is left out, what leaves out least is looked for, and little is known of what is cheap. What
// is cheaper may leave of the budgets what something more can be placed by.
func solveWhole(p Problem) Answer {
	a, lacking := solveOnce(p)
	if !lacking || p.Steps < 0 {
		return a
	}
	for range searchesForPlaced {
		b, ok := searchPlaced(p, a)
		if !ok || slices.Equal(a.Left, b.Left) {
			return b
		}
		a = b
	}
	return a
}

// searchPlaced searches for what an answer places, and places then what else there is room for. It is not ok if that comes to
// nothing, and returns the answer.
func searchPlaced(p Problem, a Answer) (b Answer, ok bool) {
	q := p
	q.Items, q.Seeds, q.Steps = slices.Clone(p.Items), []Answer{a}, cmp.Or(p.Steps, DefaultSteps)/2
	for _, l := range a.Left {
		q.Items[l.Item].Count -= l.Count
	}
	found, lacking := solveOnce(q)
	a.Steps += found.Steps
	m := compile(p)
	best := m.read(found)
	if lacking || best == nil {
		return a, false
	}
	m.topUp(best)
	b = m.answer(p, best)
	b.Bound, b.Duals, b.Steps = found.Bound, found.Duals, a.Steps
	return b, true
}

// solveOnce solves a problem in one search, however many classes it has. It reports whether it leaves out something that fits on some host.
func solveOnce(p Problem) (a Answer, lacking bool) {
	m := compile(p)
	if len(m.classes) == 0 {
		return m.answer(p, &solution{}), false
	}
	s := &search{model: m, packer: newPacker(m)}
	s.start(p)
	s.relax()
	if !s.solved {
		s.pour(cmp.Or(p.Steps, DefaultSteps))
	}
	return s.finish(p), s.lacking()
}

// start offers what is known and what is quickly found.
func (s *search) start(p Problem) {
	for _, a := range p.Seeds {
		s.give(s.model.seed(a))
	}
	s.give(s.model.firstFit())
	only, exactly := s.affordable(s.model.onlyClass()), s.solveExactly()
	s.solved = only || exactly
}

// relax finds prices.
func (s *search) relax() {
	s.relaxation = newRelaxation(s.model, s.model.kinds(), s.model.charge)
	s.relaxation.ascend()
	s.least = s.relaxation.value()
	s.near = s.relaxation.narrow(maxHostExcess * s.reach())
}

// pour fills hosts in one style after the other until the best solution is close to the relaxation, or that is a good part of the
// steps, and spends what is left of these on improving it.
func (s *search) pour(steps int) {
	k := s.packer
	limit, starts := k.steps+max(steps, 0), k.steps+steps/startsPart
	for i, st := range styles(len(s.relaxation.limits) > 0, s.pressed()) {
		if i > 0 && (k.steps > starts || s.within(goodEnough)) {
			break
		}
		st.excess *= s.reach()
		s.offer(s.try(st))
	}
	if !s.pressed() && !s.within(closeToBound) {
		s.offer(s.mixed(steps / mixPart))
	}
	poured := s.best
	if !s.within(closeToBound) {
		s.offer(s.patterned(steps / patternPart))
	}
	if s.lacking() {
		s.offer(k.ration(s.relaxation, false))
		s.offer(k.ration(s.relaxation, true))
	}
	limit = max(limit, k.steps+steps/4)
	begun := s.best
	s.offer(s.improved(begun, limit))
	if begun != poured && !s.within(closeToBound) {
		s.offer(s.improved(poured, max(limit, k.steps+steps/4)))
	}
}

// improved is a solution after local improvement, which ends at so many steps of the packer at the latest.
func (s *search) improved(x *solution, limit int) *solution {
	return improve(s.packer, x, s.near.prices(looking*s.reach()), limit, func(goal int64) bool { return float64(goal) <= s.least*closeToBound })
}

// startsPart is the part of the steps up to which another start is better than improving on the best that there is.
const startsPart = 6

// looking is how much dearer than the cheapest a host may be to be tried when a solution is improved.
const looking = 0.05

// within reports whether the best solution leaves nothing out and costs no more than so much times the relaxation.
func (s *search) within(times float64) bool {
	return !s.lacking() && float64(s.model.goal(s.best)) <= s.least*times
}

// finish chooses the answer and proves how good it is.
func (s *search) finish(p Problem) Answer {
	best := s.best
	// Of a small problem the charge decides among prices up to the ceiling. Of more, price and charge are made small together, and a lower price
	// is no reason for one machine more.
	if s.model.itemCount() <= SmallProblem && s.model.compareLeft(best, s.known) == 0 && s.model.cost(best) > s.model.cost(s.known) {
		best = s.known
	}
	placed := make([]int, len(s.model.classes))
	whole := true
	for c := range placed {
		placed[c] = s.model.classes[c].count - best.left[c]
		whole = whole && best.left[c] == 0
	}
	a := s.model.answer(p, best)
	if !p.Unproven {
		s.prove(&a, placed, whole)
	}
	a.Steps = s.steps + s.packer.steps + s.relaxation.steps
	return a
}

// prove fills in the bound and what it says items are worth.
func (s *search) prove(a *Answer, placed []int, whole bool) {
	var worth []int64
	var best *relaxation
	for _, f := range s.plain() {
		if bound, w := f.boundByPrices(placed); worth == nil || bound > a.Bound {
			a.Bound, worth, best = bound, w, f
		}
	}
	a.Bound = best.boundByPatterns(placed, a.Bound, worth, incumbent{goal: a.Cost, nodes: s.best.nodes})
	s.steps += best.steps
	if whole {
		a.Bound = max(a.Bound, s.proven)
	}
	for c, w := range worth {
		a.Duals[s.model.classes[c].item] = w >> moneyBits
	}
}

// pressed reports whether caps demand more hosts than amounts do.
func (s *search) pressed() bool { return s.relaxation.capCost() > 0.01*s.least }

// plain returns relaxations without the charge, one that goes on from the prices of the search and one that starts from nothing:
// the ascent can get stuck, seldom twice.
func (s *search) plain() [2]*relaxation {
	fresh := newRelaxation(s.model, s.relaxation.kinds, 0)
	on := s.relaxation.uncharged()
	fresh.ascend()
	return [2]*relaxation{on, fresh}
}
