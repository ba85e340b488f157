package solve

import (
	"math"
	"slices"
)

const huge = math.MaxInt64 / 4

// pick copies the given positions of v to out, where all is 0 and what is missing stays so.
func pick(out, v []int64, at []int) {
	for k, d := range at {
		if d < len(v) {
			out[k] = v[d]
		}
	}
}

// welcomes returns for each host of the problem the set of distinct host sets, among those of the items, that contain it.
// Hosts with equal room differ only by these.
func welcomes(p Problem, sets []Bits) []Bits {
	out := make([]Bits, len(p.Hosts))
	for i := range out {
		out[i] = NewBits(len(sets))
	}
	for s, set := range sets {
		set.each(func(h int) {
			if h < len(out) {
				out[h].Set(s)
			}
		})
	}
	return out
}

// distinctSets returns the different host sets of the items and, for each item, which of them it has.
func distinctSets(p Problem) ([]Bits, []int32) {
	var sets []Bits
	of := make([]int32, len(p.Items))
	seen := make(map[uint64][]int32)
	for i := range p.Items {
		b := p.Items[i].Hosts
		hash := uint64(14695981039346656037)
		for _, word := range b {
			hash = (hash ^ word) * 1099511628211
			hash ^= hash >> 29
		}
		k := slices.IndexFunc(seen[hash], func(s int32) bool { return sets[s].equal(b) })
		if k >= 0 {
			of[i] = seen[hash][k]
			continue
		}
		of[i] = int32(len(sets))
		seen[hash] = append(seen[hash], of[i])
		sets = append(sets, b)
	}
	return sets, of
}
