package solve

import (
	"cmp"
	"slices"
)

// search collects solutions and knows the best.
type search struct {
	m      *model
	packer *packer
	fluid  *fluid
	near   *fluid // of the hosts that are not much dearer than the cheapest
	best   *solution
	given  *solution // the cheapest of the solutions than which the answer for a handful may have no higher price
	least  float64   // what the relaxation costs, with the charge
	proven int64     // a bound found on the way
	solved bool      // the best solution is known to be the best there is
	steps  int
}

// How close to the relaxation is close enough to try no other style, and to improve no more.
const (
	close  = 1.015
	closer = closeEnough
)

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

// give offers a solution that is known beforehand.
func (s *search) give(x *solution) {
	if x == nil {
		return
	}
	s.offer(x)
	if s.given == nil || cmp.Or(s.m.missing(x, s.given), cmp.Compare(s.m.cost(x), s.m.cost(s.given))) < 0 {
		s.given = x
	}
}

// lacking reports whether the best solution leaves something out.
func (s *search) lacking() bool {
	return slices.ContainsFunc(s.best.left, func(n int) bool { return n > 0 })
}

// wide is how much further the search looks for hosts.
func (s *search) wide() float64 {
	if s.m.items() > smallItemCount {
		return 1
	}
	return 4
}

// Handful is how few items have a host more or less make up much of the whole. So there the charge decides what is best, as long as
// the price stays bearable. More items even out, and the least price needs few hosts anyway.
const Handful = 24

// Bearable is the price that a handful of items may have, for the sake of fewer hosts, where the least is known.
func Bearable[T ~int64](least T) T { return least + least/20 }
