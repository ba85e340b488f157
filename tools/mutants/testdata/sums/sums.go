// Package sums is changed by the test of mutants.
package sums

// Capped adds up what is above zero, to limit at most.
func Capped(limit int, values ...int) int {
	sum := 0
	for i := 0; i < len(values); i++ {
		switch v := values[i]; {
		case v > 0:
			sum += v
		}
	}
	if sum >= limit {
		return limit
	}
	return sum
}

// Spare is asked by no test.
func Spare(limit, used int) int { return -(used - limit) }

// Within reports whether v is no more than limit, if there is one.
func Within(limit, v int, limited bool) bool {
	if !limited {
		return true
	}
	return limited && (v <= limit || v == 0)
}
