package solve

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/fill"
	"github.com/tenon-sh/tenon/engine/solve/firstfit"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/pattern"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// search collects solutions and knows the best.
type search struct {
	model      *model.Model
	packer     *fill.Packer
	relaxation *relax.Relaxation
	near       *relax.Relaxation // of the hosts that are not much dearer than the cheapest
	best       *model.Solution
	known      *model.Solution // the cheapest of the solutions than which the answer for a small problem may have no higher price
	least      float64         // what the relaxation costs, with the charge
	proven     int64           // a bound found on the way
	solved     bool            // the best solution is known to be the best there is
	steps      int
}

// How close to the relaxation is close enough to try no other style, and to improve no more.
const (
	goodEnough   = 1.015
	closeToBound = pattern.CloseEnough
)

// offer makes s the best solution if it is: what leaves out less is better, then what costs less with the charge.
func (s *search) offer(x *model.Solution) {
	if x == nil {
		return
	}
	for _, n := range x.Left {
		if n > 0 {
			firstfit.TopUp(s.model, x)
			break
		}
	}
	if s.best == nil || cmp.Or(s.model.CompareLeft(x, s.best), cmp.Compare(s.model.Goal(x), s.model.Goal(s.best))) < 0 {
		s.best = x
	}
}

// give offers a solution that is known beforehand.
func (s *search) give(x *model.Solution) {
	if x == nil {
		return
	}
	s.offer(x)
	if s.known == nil || cmp.Or(s.model.CompareLeft(x, s.known), cmp.Compare(s.model.Cost(x), s.model.Cost(s.known))) < 0 {
		s.known = x
	}
}

// lacking reports whether the best solution leaves something out.
func (s *search) lacking() bool {
	return slices.ContainsFunc(s.best.Left, func(n int) bool { return n > 0 })
}

// reach is how much further the search looks for hosts.
func (s *search) reach() float64 {
	if s.model.ItemCount() > model.SmallItemCount {
		return 1
	}
	return 4
}

// SmallProblem is how few items have a host more or less make up much of the whole. So there the charge decides what is best, as long as
// the price stays below a ceiling. More items even out, and the least price needs few hosts anyway.
const SmallProblem = 24

// PriceCeiling is the price that a small problem may have, for the sake of fewer hosts, where the least is known.
func PriceCeiling[T ~int64](least T) T { return least + least/20 }
