package market

import (
	"github.com/tenon-sh/tenon/engine/amount"
)

// FitsBoth reports whether room has enough for need beside used.
func FitsBoth(need, used, room []int64) bool {
	for i, n := range need {
		if n = amount.Plus(n, used[i]); n > room[i] && n > 0 {
			return false
		}
	}
	return true
}

// Times is how often need fits into room; at least once.
func Times(need, room []int64) int {
	n := 1 << 20
	for i, v := range need {
		if v > 0 {
			n = min(n, int(room[i]/v))
		}
	}
	return max(n, 1)
}

// Fits reports whether room has as much of everything as need wants.
func Fits(need, room []int64) bool {
	for i, n := range need {
		if n > room[i] && n > 0 {
			return false
		}
	}
	return true
}
