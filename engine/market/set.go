package market

import (
	"math/bits"
)

// Set is a set of small numbers, one bit each.
type Set []uint64

func NewSet(n int) Set { return make(Set, (n+63)/64) }

func (s Set) Add(i int) { s[i>>6] |= 1 << (i & 63) }

func (s Set) Drop(i int) { s[i>>6] &^= 1 << (i & 63) }

func (s Set) Has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }

func (s Set) Empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// Intersect leaves only what is also in o.
func (s Set) Intersect(o Set) {
	for i := range s {
		s[i] &= o[i]
	}
}

// Subtract drops what is also in o.
func (s Set) Subtract(o Set) {
	for i := range s {
		s[i] &^= o[i]
	}
}

// Union adds what is in o.
func (s Set) Union(o Set) {
	for i := range s {
		s[i] |= o[i]
	}
}

// Meets reports whether the sets share a number.
func (s Set) Meets(o Set) bool {
	for i, w := range s {
		if w&o[i] != 0 {
			return true
		}
	}
	return false
}

// Shared is how many numbers are in both sets.
func (s Set) Shared(o Set) int {
	n := 0
	for i, w := range s {
		n += bits.OnesCount64(w & o[i])
	}
	return n
}

// Between reports whether the set has a number from first up to, and without, last.
func (s Set) Between(first, last int) bool {
	if first >= last {
		return false
	}
	from, to := first>>6, (last-1)>>6
	head, tail := ^uint64(0)<<(first&63), ^uint64(0)>>(63-(last-1)&63)
	if from == to {
		return s[from]&head&tail != 0
	}
	for _, w := range s[from+1 : to] {
		if w != 0 {
			return true
		}
	}
	return s[from]&head != 0 || s[to]&tail != 0
}

// within reports whether all numbers of the set from first up to, and without, last are in o.
func (s Set) within(o Set, first, last int) bool {
	for k := first >> 6; k<<6 < last; k++ {
		if s[k]&^o[k]&part(k, first, last) != 0 {
			return false
		}
	}
	return true
}

// subtract drops what is also in o from first up to, and without, last.
func (s Set) subtract(o Set, first, last int) {
	for k := first >> 6; k<<6 < last; k++ {
		s[k] &^= o[k] & part(k, first, last)
	}
}

// part is the bits of the k-th word that stand for numbers from first up to, and without, last, of which there are some.
func part(k, first, last int) uint64 {
	bits := ^uint64(0)
	if k == first>>6 {
		bits <<= first & 63
	}
	if k == (last-1)>>6 {
		bits &= ^uint64(0) >> (63 - (last-1)&63)
	}
	return bits
}

// All yields the numbers of the set, in rising order.
func (s Set) All(yield func(int) bool) {
	for k, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(k<<6 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// From yields the numbers of the set that are not below first, in rising order.
func (s Set) From(first int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for k := first >> 6; k < len(s); k++ {
			word := s[k]
			if k == first>>6 {
				word &= ^uint64(0) << (first & 63)
			}
			for ; word != 0; word &= word - 1 {
				if !yield(k<<6 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
