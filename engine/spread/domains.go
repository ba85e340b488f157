package spread

// none is no domain, or no group.
const none int32 = -1

func bump(counts []int32, d, by int32) []int32 {
	for int(d) >= len(counts) {
		counts = append(counts, 0)
	}
	counts[d] += by
	return counts
}

func count(counts []int32, d int32) int32 {
	if d == none || int(d) >= len(counts) {
		return 0
	}
	return counts[d]
}
