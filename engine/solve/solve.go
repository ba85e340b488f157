package solve

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/exact"
	"github.com/tenon-sh/tenon/engine/solve/fill"
	"github.com/tenon-sh/tenon/engine/solve/firstfit"
	"github.com/tenon-sh/tenon/engine/solve/improve"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/pattern"
	"github.com/tenon-sh/tenon/engine/solve/problem"
	"github.com/tenon-sh/tenon/engine/solve/proof"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// searchesForPlaced is how often what has been placed is searched for again.
const searchesForPlaced = 2

// solveWhole solves a problem without slices. Where budgets do not suffice for everything it searches again for what the first search
// has placed: as long as it is open what is left out, what leaves out least is looked for, and little is known of what is cheap. What
// is cheaper may leave of the budgets what something more can be placed by.
func solveWhole(p problem.Problem) problem.Answer {
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
func searchPlaced(p problem.Problem, a problem.Answer) (b problem.Answer, ok bool) {
	q := p
	q.Items, q.Seeds, q.Steps = slices.Clone(p.Items), []problem.Answer{a}, cmp.Or(p.Steps, problem.DefaultSteps)/2
	for _, l := range a.Left {
		q.Items[l.Item].Count -= l.Count
	}
	found, lacking := solveOnce(q)
	a.Steps += found.Steps
	m := model.Compile(p)
	best := m.Read(found)
	if lacking || best == nil {
		return a, false
	}
	firstfit.TopUp(m, best)
	b = m.Answer(p, best)
	b.Bound, b.Duals, b.Steps = found.Bound, found.Duals, a.Steps
	return b, true
}

// solveOnce solves a problem in one search, however many classes it has. It reports whether it leaves out something that fits on some host.
func solveOnce(p problem.Problem) (a problem.Answer, lacking bool) {
	m := model.Compile(p)
	if len(m.Classes) == 0 {
		return m.Answer(p, &model.Solution{}), false
	}
	s := &search{model: m, packer: fill.NewPacker(m)}
	s.start(p)
	s.relax()
	if !s.solved {
		s.pour(cmp.Or(p.Steps, problem.DefaultSteps))
	}
	return s.finish(p), s.lacking()
}

// start offers what is known and what is quickly found.
func (s *search) start(p problem.Problem) {
	for _, a := range p.Seeds {
		s.give(s.model.Seed(a))
	}
	s.give(firstfit.Place(s.model))
	only, exactly := s.affordable(exact.OneClass(s.model)), s.solveExactly()
	s.solved = only || exactly
}

// relax finds prices.
func (s *search) relax() {
	s.relaxation = relax.New(s.model, relax.KindsOf(s.model), s.model.Charge)
	s.relaxation.Ascend()
	s.least = s.relaxation.Value()
	s.near = s.relaxation.Narrow(relax.MaxHostExcess * s.reach())
}

// pour fills hosts in one style after the other until the best solution is close to the relaxation, or that is a good part of the
// steps, and spends what is left of these on improving it.
func (s *search) pour(steps int) {
	k := s.packer
	limit, starts := k.Steps+max(steps, 0), k.Steps+steps/startsPart
	for i, st := range styles(len(s.relaxation.Limits) > 0, s.pressed()) {
		if i > 0 && (k.Steps > starts || s.within(goodEnough)) {
			break
		}
		st.Excess *= s.reach()
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
		s.offer(k.Ration(s.relaxation, false))
		s.offer(k.Ration(s.relaxation, true))
	}
	limit = max(limit, k.Steps+steps/4)
	begun := s.best
	s.offer(s.improved(begun, limit))
	if begun != poured && !s.within(closeToBound) {
		s.offer(s.improved(poured, max(limit, k.Steps+steps/4)))
	}
}

// improved is a solution after local improvement, which ends at so many steps of the packer at the latest.
func (s *search) improved(x *model.Solution, limit int) *model.Solution {
	return improve.Run(s.packer, x, s.near.Prices(looking*s.reach()), limit, s.patience)
}

// patience is how many windows in a row may save little when a solution that costs so much is improved: the less there is to gain, the fewer.
func (s *search) patience(goal int64) int {
	switch {
	case float64(goal) <= s.least*closeToBound:
		return 0
	case float64(goal) <= s.least*littleToGain:
		return 1
	}
	return patient
}

// startsPart is the part of the steps up to which another start is better than improving on the best that there is.
const startsPart = 6

// littleToGain is how close to the relaxation there is little to gain by improving, and a window that saved little is the last.
const littleToGain = 1.02

// patient is how many windows in a row may save little where there is more.
const patient = 3

// looking is how much dearer than the cheapest a host may be to be tried when a solution is improved.
const looking = 0.05

// within reports whether the best solution leaves nothing out and costs no more than so much times the relaxation.
func (s *search) within(times float64) bool {
	return !s.lacking() && float64(s.model.Goal(s.best)) <= s.least*times
}

// finish chooses the answer and proves how good it is.
func (s *search) finish(p problem.Problem) problem.Answer {
	best := s.best
	// Of a small problem the charge decides among prices up to the ceiling. Of more, price and charge are made small together, and a lower price
	// is no reason for one machine more.
	if s.model.ItemCount() <= SmallProblem && s.model.CompareLeft(best, s.known) == 0 && s.model.Cost(best) > s.model.Cost(s.known) {
		best = s.known
	}
	placed := make([]int, len(s.model.Classes))
	whole := true
	for c := range placed {
		placed[c] = s.model.Classes[c].Count - best.Left[c]
		whole = whole && best.Left[c] == 0
	}
	a := s.model.Answer(p, best)
	if !p.Unproven {
		s.prove(&a, placed, whole)
	}
	a.Steps = s.steps + s.packer.Steps + s.relaxation.Steps
	return a
}

// prove fills in the bound and what it says items are worth.
func (s *search) prove(a *problem.Answer, placed []int, whole bool) {
	var worth []int64
	var best *relax.Relaxation
	for _, f := range s.plain() {
		if bound, w := proof.Bound(f, placed); worth == nil || bound > a.Bound {
			a.Bound, worth, best = bound, w, f
		}
	}
	a.Bound = pattern.Bound(best, placed, a.Bound, worth, pattern.Incumbent{Goal: a.Cost, Nodes: s.best.Nodes})
	s.steps += best.Steps
	if whole {
		a.Bound = max(a.Bound, s.proven)
	}
	for c, w := range worth {
		a.Duals[s.model.Classes[c].Item] = w >> proof.MoneyBits
	}
}

// pressed reports whether caps demand more hosts than amounts do.
func (s *search) pressed() bool { return s.relaxation.CapCost() > 0.01*s.least }

// plain returns relaxations without the charge, one that goes on from the prices of the search and one that starts from nothing:
// the ascent can get stuck, seldom twice.
func (s *search) plain() [2]*relax.Relaxation {
	fresh := relax.New(s.model, s.relaxation.Kinds, 0)
	on := s.relaxation.Uncharged()
	fresh.Ascend()
	return [2]*relax.Relaxation{on, fresh}
}
