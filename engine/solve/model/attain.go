package model

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// No host is filled beyond the largest sum of needs that fits into it: where all items need whole cores, half a core is of no use.
// Rooms are taken for no larger than that, so that prices and bounds do not count on what no item can use.

const (
	maxSums  = 1 << 12 // how far sums are looked up; beyond it rooms are rounded to what divides all needs
	maxNeeds = 64      // how many different needs are summed up
)

// sums knows which sums of needs there are in one dimension.
type sums struct {
	unit int64   // divides every need
	last []int32 // for each number of units the largest sum that is not above it
}

// newSums looks at what the items need in dimension d, however many there are of each.
func newSums(p problem.Problem, d int) sums {
	s := sums{}
	var needs []int64
	for i := range p.Items {
		if d >= len(p.Items[i].Need) || p.Items[i].Count <= 0 || p.Items[i].Need[d] <= 0 {
			continue
		}
		n := p.Items[i].Need[d]
		s.unit = divisor(s.unit, n)
		if at, known := slices.BinarySearch(needs, n); !known && len(needs) <= maxNeeds {
			needs = slices.Insert(needs, at, n)
		}
	}
	if len(needs) == 0 || len(needs) > maxNeeds {
		return s
	}
	s.last = make([]int32, maxSums)
	for k := int64(1); k < maxSums; k++ {
		s.last[k] = s.last[k-1]
		for _, n := range needs {
			if rest := k - n/s.unit; rest >= 0 && int64(s.last[rest]) == rest {
				s.last[k] = int32(k)
				break
			}
		}
	}
	return s
}

// attainable is how much of the room can be filled.
func (s *sums) attainable(room int64) int64 {
	if s.unit == 0 || room < 0 {
		return room
	}
	units := room / s.unit
	if units < int64(len(s.last)) {
		units = int64(s.last[units])
	}
	return units * s.unit
}

// divisor is the greatest common divisor.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
