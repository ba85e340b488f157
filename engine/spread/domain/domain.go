// Package domain numbers the domains of a topology key, and counts by them.
package domain

// None is no domain, or no group.
const None int32 = -1

func Bump(counts []int32, d, by int32) []int32 {
	for int(d) >= len(counts) {
		counts = append(counts, 0)
	}
	counts[d] += by
	return counts
}

func Count(counts []int32, d int32) int32 {
	if d == None || int(d) >= len(counts) {
		return 0
	}
	return counts[d]
}
