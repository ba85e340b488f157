package market

import (
	"slices"
	"testing"
)

// TestSetParts holds that what is asked of a part of a set, or done to it, is as if each number of it were looked at.
func TestSetParts(t *testing.T) {
	const n = 200
	every := func(step int) Set {
		s := NewSet(n)
		for i := 0; i < n; i += step {
			s.Add(i)
		}
		return s
	}
	threes, sixes := every(3), every(6)
	if got := threes.Shared(sixes); got != (n+5)/6 {
		t.Errorf("%d numbers are shared, want %d", got, (n+5)/6)
	}
	for _, part := range [][2]int{{0, 1}, {0, 64}, {1, 63}, {63, 65}, {64, 128}, {5, 190}, {127, 129}, {128, 200}, {199, 200}, {10, 11}, {6, 9}} {
		first, last := part[0], part[1]
		want, within := slices.Clone(threes), true
		for i := first; i < last; i++ {
			within = within && (!threes.Has(i) || sixes.Has(i))
			if sixes.Has(i) {
				want.Drop(i)
			}
		}
		got := slices.Clone(threes)
		if got.subtract(sixes, first, last); !slices.Equal(got, want) {
			t.Errorf("from %d to %d without what is in the other: %x, want %x", first, last, got, want)
		}
		if threes.within(sixes, first, last) != within {
			t.Errorf("from %d to %d: within is %v", first, last, !within)
		}
	}
}
