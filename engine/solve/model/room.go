package model

import "github.com/tenon-sh/tenon/engine/solve/problem"

// Fits reports whether need fits into free.
func Fits(need, free []int64) bool {
	for d, n := range need {
		if n > free[d] {
			return false
		}
	}
	return true
}

// Times returns how often need fits into free, at most limit times.
func Times(need, free []int64, limit int) int {
	if limit <= 0 || !Fits(need, free) {
		return 0
	}
	if limit == 1 {
		return 1
	}
	for d, n := range need {
		if n > 0 && int64(limit) > free[d]/n {
			limit = int(free[d] / n)
		}
	}
	return limit
}

// Overdrawn reports whether times hosts that draw so would exceed what is left of the budgets.
func Overdrawn(draws []problem.Draw, left []int64, times int64) bool {
	for _, d := range draws {
		if d.Amount > left[d.Budget]/times {
			return true
		}
	}
	return false
}

// Affordable returns how many hosts that draw so, at most limit, the budgets allow.
func Affordable(draws []problem.Draw, left []int64, limit int) int {
	for _, d := range draws {
		limit = int(min(int64(limit), max(left[d.Budget], 0)/d.Amount))
	}
	return limit
}
