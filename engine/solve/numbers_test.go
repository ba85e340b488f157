package solve

import "testing"

// What is needed in all is not overstated where numbers are so large that they cannot be added up.
func TestTotalsOfLargeNumbers(t *testing.T) {
	for _, x := range []struct {
		got, want int64
		what      string
	}{
		{plus(huge, 1), huge, "huge and 1"},
		{plus(3, 4), 7, "3 and 4"},
		{product(1<<60, 1<<10), huge, "2^60 times 2^10"},
		{product(huge, 1), huge, "huge, once"},
		{product(7, 6), 42, "7 times 6"},
	} {
		if x.got != x.want {
			t.Errorf("%s: %d, want %d", x.what, x.got, x.want)
		}
	}
}
