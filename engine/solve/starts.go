package solve

import "slices"

// exactly offers the best solution of a tiny problem, and reports whether nothing better is to be found. Of a handful of items, that
// is the best of those that are bearable and not dearer than what is known.
func (s *search) exactly() bool {
	x := newParts(s.m)
	if x == nil {
		return false
	}
	free := x.solve(0)
	s.proven = s.m.cost(free)
	handful := s.m.items() <= Handful
	var best *solution
	if handful {
		best = x.within(s.proven, s.bearable(free))
	} else {
		best = x.solve(s.m.charge)
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

// bearable is what a handful of items may cost when the solution has the least price.
func (s *search) bearable(free *solution) int64 {
	most := Bearable(s.proven)
	if s.m.missing(s.given, free) == 0 {
		most = min(most, s.m.cost(s.given))
	}
	return most
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

// try is the greedy search in one style.
func (s *search) try(st style) *solution {
	k := s.packer
	copy(k.rem, s.m.counts())
	budgets := slices.Clone(s.m.budgets)
	p := s.near.clone().prices(st.loose)
	x := &solution{nodes: k.greedy(p, st, allClasses(s.m), budgets), left: slices.Clone(k.rem)}
	for i := range x.nodes {
		s.m.downsize(&x.nodes[i], budgets)
	}
	return x
}

// styles are the starts of the search, the most promising first. Where caps demand many hosts, none may be larger than a fair share.
func styles(capped, pressed bool) []style {
	switch {
	case pressed:
		return []style{
			{slack: 1, pull: .5, again: .9, loose: .03, crowd: 1.5},
			{slack: 4, pull: 2, again: .9, loose: .03, crowd: 2},
			{slack: 2, pull: 2, again: .9, loose: .03},
		}
	case capped:
		return []style{
			{slack: 2, pull: 2, again: .9, loose: .03},
			{slack: 1, pull: .5, again: .9, loose: .03, crowd: 1.5},
			{slack: 4, pull: 2, again: .9, loose: .03, crowd: 2},
		}
	}
	return []style{
		{slack: 1, pull: 0, again: .9, loose: .03},
		{slack: 1, pull: .5, again: .85, loose: .15},
		{slack: 2, pull: 2, again: .9, loose: .03},
	}
}

// mixed is the start from the relaxation's mix of hosts.
func (s *search) mixed(most int) *solution { return s.packer.mixed(s.near, 0.1*s.wide(), most) }

// mixPart is the part of the steps that the start from the relaxation's mix may take, by a rough guess.
const mixPart = 4

// patterned is a start from the linear program of patterns: of each as many hosts as it says, rounded down. The greedy
// search places the rest.
func (s *search) patterned(most int) *solution {
	counts := s.m.counts()
	x := startPatterns(s.near, counts, s.best.nodes, most)
	if x == nil {
		return nil
	}
	s.steps += x.steps()
	copy(s.packer.rem, counts)
	budgets := slices.Clone(s.m.budgets)
	return s.packer.complete(s.near, 0.1*s.wide(), x.open(s.packer.rem, budgets), budgets)
}

// patternPart is the part of the steps that a start from patterns may take.
const patternPart = 2
