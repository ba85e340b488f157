package pack

import "math/bits"

// set is a set of small numbers, one bit each.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func (s set) add(i int) { s[i>>6] |= 1 << (i & 63) }

func (s set) drop(i int) { s[i>>6] &^= 1 << (i & 63) }

func (s set) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }

func (s set) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// keep leaves only what is also in o.
func (s set) keep(o set) {
	for i := range s {
		s[i] &= o[i]
	}
}

// less drops what is also in o.
func (s set) less(o set) {
	for i := range s {
		s[i] &^= o[i]
	}
}

// join adds what is in o.
func (s set) join(o set) {
	for i := range s {
		s[i] |= o[i]
	}
}

// meets reports whether the sets share a number.
func (s set) meets(o set) bool {
	for i, w := range s {
		if w&o[i] != 0 {
			return true
		}
	}
	return false
}

// all yields the numbers of the set, in rising order.
func (s set) all(yield func(int) bool) {
	for k, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(k<<6 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}
