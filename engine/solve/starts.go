package solve

import "slices"

// solveExactly offers the best solution of a tiny problem, and reports whether nothing better is to be found. Of a small problem, that
// is the best of those that are below the price ceiling and not dearer than what is known.
func (s *search) solveExactly() bool {
	x := newPartition(s.model)
	if x == nil {
		return false
	}
	free := x.solve(0)
	s.proven = s.model.cost(free)
	handful := s.model.itemCount() <= SmallProblem
	var best *solution
	if handful {
		best = x.within(s.proven, s.priceCeiling(free))
	} else {
		best = x.solve(s.model.charge)
	}
	s.steps += x.steps
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
func (s *search) priceCeiling(free *solution) int64 {
	most := PriceCeiling(s.proven)
	if s.model.compareLeft(s.known, free) == 0 {
		most = min(most, s.model.cost(s.known))
	}
	return most
}

// affordable offers a solution that was found without looking at budgets, if they allow it.
func (s *search) affordable(x *solution) bool {
	if x == nil {
		return false
	}
	for _, left := range s.model.drawn(x) {
		if left < 0 {
			return false
		}
	}
	s.offer(x)
	return true
}

// try is the greedy search in one style.
func (s *search) try(st style) *solution {
	k := s.packer
	copy(k.remaining, s.model.counts())
	budgets := slices.Clone(s.model.budgets)
	p := s.near.clone().prices(st.excess)
	x := &solution{nodes: k.greedy(p, st, allClasses(s.model), budgets), left: slices.Clone(k.remaining)}
	for i := range x.nodes {
		s.model.downsize(&x.nodes[i], budgets)
	}
	return x
}

// styles are the starts of the search, the most promising first. Where caps demand many hosts, none may be larger than a fair share.
func styles(capped, pressed bool) []style {
	switch {
	case pressed:
		return []style{
			{fairShare: 1, detourWeight: .5, reprice: .9, excess: .03, capShare: 1.5},
			{fairShare: 4, detourWeight: 2, reprice: .9, excess: .03, capShare: 2},
			{fairShare: 2, detourWeight: 2, reprice: .9, excess: .03},
		}
	case capped:
		return []style{
			{fairShare: 2, detourWeight: 2, reprice: .9, excess: .03},
			{fairShare: 1, detourWeight: .5, reprice: .9, excess: .03, capShare: 1.5},
			{fairShare: 4, detourWeight: 2, reprice: .9, excess: .03, capShare: 2},
		}
	}
	return []style{
		{fairShare: 1, detourWeight: 0, reprice: .9, excess: .03},
		{fairShare: 1, detourWeight: .5, reprice: .85, excess: .15},
		{fairShare: 2, detourWeight: 2, reprice: .9, excess: .03},
	}
}

// mixed is the start from the relaxation's mix of hosts.
func (s *search) mixed(most int) *solution { return s.packer.mix(s.near, 0.1*s.reach(), most) }

// mixPart is the part of the steps that the start from the relaxation's mix may take, by a rough guess.
const mixPart = 4

// patterned is a start from the linear program of patterns: of each as many hosts as it says, rounded down. The greedy
// search places the rest.
func (s *search) patterned(most int) *solution {
	counts := s.model.counts()
	x := solvePatterns(s.near, counts, s.best.nodes, most)
	if x == nil {
		return nil
	}
	s.steps += x.steps()
	copy(s.packer.remaining, counts)
	budgets := slices.Clone(s.model.budgets)
	return s.packer.complete(s.near, 0.1*s.reach(), x.open(s.packer.remaining, budgets), budgets)
}

// patternPart is the part of the steps that a start from patterns may take.
const patternPart = 2
