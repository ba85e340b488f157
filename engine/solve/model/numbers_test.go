package model

import "testing"

// What is needed in all is not overstated where numbers are so large that they cannot be added up.
func TestTotalsOfLargeNumbers(t *testing.T) {
	for _, x := range []struct {
		got, want int64
		what      string
	}{
		{Plus(Huge, 1), Huge, "huge and 1"},
		{Plus(3, 4), 7, "3 and 4"},
		{Product(1<<60, 1<<10), Huge, "2^60 times 2^10"},
		{Product(Huge, 1), Huge, "huge, once"},
		{Product(7, 6), 42, "7 times 6"},
	} {
		if x.got != x.want {
			t.Errorf("%s: %d, want %d", x.what, x.got, x.want)
		}
	}
}
