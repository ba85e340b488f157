package solve

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/exact"
	"github.com/tenon-sh/tenon/engine/solve/fill"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/pattern"
)

// solveExactly offers the best solution of a tiny problem, and reports whether nothing better is to be found. Of a small problem, that
// is the best of those that are below the price ceiling and not dearer than what is known.
func (s *search) solveExactly() bool {
	x := exact.New(s.model)
	if x == nil {
		return false
	}
	free := x.Solve(0)
	s.proven = s.model.Cost(free)
	handful := s.model.ItemCount() <= SmallProblem
	var best *model.Solution
	if handful {
		best = x.Within(s.proven, s.priceCeiling(free))
	} else {
		best = x.Solve(s.model.Charge)
	}
	s.steps += x.Steps
	solved := s.affordable(best)
	switch {
	case solved && handful:
		s.give(best)
	case s.affordable(free):
		s.give(free)
	}
	return solved
}

// priceCeiling is what a small problem may cost when the solution has the least price.
func (s *search) priceCeiling(free *model.Solution) int64 {
	most := PriceCeiling(s.proven)
	if s.model.CompareLeft(s.known, free) == 0 {
		most = min(most, s.model.Cost(s.known))
	}
	return most
}

// affordable offers a solution that was found without looking at budgets, if they allow it.
func (s *search) affordable(x *model.Solution) bool {
	if x == nil {
		return false
	}
	for _, left := range s.model.Drawn(x) {
		if left < 0 {
			return false
		}
	}
	s.offer(x)
	return true
}

// try is the greedy search in one style.
func (s *search) try(st fill.Style) *model.Solution {
	k := s.packer
	copy(k.Remaining, s.model.Counts())
	budgets := slices.Clone(s.model.Budgets)
	p := s.near.Clone().Prices(st.Excess)
	x := &model.Solution{Nodes: k.Greedy(p, st, model.AllClasses(s.model), budgets), Left: slices.Clone(k.Remaining)}
	for i := range x.Nodes {
		s.model.Downsize(&x.Nodes[i], budgets)
	}
	return x
}

// styles are the starts of the search, the most promising first. Where caps demand many hosts, none may be larger than a fair share.
func styles(capped, pressed bool) []fill.Style {
	switch {
	case pressed:
		return []fill.Style{
			{FairShare: 1, DetourWeight: .5, Reprice: .9, Excess: .03, CapShare: 1.5},
			{FairShare: 4, DetourWeight: 2, Reprice: .9, Excess: .03, CapShare: 2},
			{FairShare: 2, DetourWeight: 2, Reprice: .9, Excess: .03},
		}
	case capped:
		return []fill.Style{
			{FairShare: 2, DetourWeight: 2, Reprice: .9, Excess: .03},
			{FairShare: 1, DetourWeight: .5, Reprice: .9, Excess: .03, CapShare: 1.5},
			{FairShare: 4, DetourWeight: 2, Reprice: .9, Excess: .03, CapShare: 2},
		}
	}
	return []fill.Style{
		{FairShare: 1, DetourWeight: 0, Reprice: .9, Excess: .03},
		{FairShare: 1, DetourWeight: .5, Reprice: .85, Excess: .15},
		{FairShare: 2, DetourWeight: 2, Reprice: .9, Excess: .03},
	}
}

// mixed is the start from the relaxation's mix of hosts.
func (s *search) mixed(most int) *model.Solution { return s.packer.Mix(s.near, 0.1*s.reach(), most) }

// mixPart is the part of the steps that the start from the relaxation's mix may take, by a rough guess.
const mixPart = 4

// patterned is a start from the linear program of patterns: of each as many hosts as it says, rounded down. The greedy
// search places the rest.
func (s *search) patterned(most int) *model.Solution {
	counts := s.model.Counts()
	x := pattern.Solve(s.near, counts, s.best.Nodes, most)
	if x == nil {
		return nil
	}
	s.steps += x.Steps()
	copy(s.packer.Remaining, counts)
	budgets := slices.Clone(s.model.Budgets)
	return s.packer.Complete(s.near, 0.1*s.reach(), x.Open(s.packer.Remaining, budgets), budgets)
}

// patternPart is the part of the steps that a start from patterns may take.
const patternPart = 2
