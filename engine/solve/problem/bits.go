package problem

import (
	"encoding/binary"
	"math/bits"
)

// Bits is a set of small numbers, one bit each.
type Bits []uint64

// NewBits returns an empty set with room for the numbers below n.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// AllBits returns the set of all numbers below n.
func AllBits(n int) Bits {
	b := NewBits(n)
	for i := range n {
		b.Set(i)
	}
	return b
}

// Set adds i, for which there must be room.
func (b Bits) Set(i int) { b[i>>6] |= 1 << (i & 63) }

// Has reports whether i is in the set.
func (b Bits) Has(i int) bool { return i>>6 < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

// Each calls f with each number of the set, in rising order.
func (b Bits) Each(f func(int)) {
	for k, word := range b {
		for ; word != 0; word &= word - 1 {
			f(k<<6 + bits.TrailingZeros64(word))
		}
	}
}

// Within reports whether every number of b is also in c; both have the same length.
func (b Bits) Within(c Bits) bool {
	for k, word := range b {
		if word&^c[k] != 0 {
			return false
		}
	}
	return true
}

// Append appends what tells the set from others of the same length.
func (b Bits) Append(text []byte) []byte {
	for _, word := range b {
		text = binary.LittleEndian.AppendUint64(text, word)
	}
	return text
}

// Empty reports whether nothing is in the set.
func (b Bits) Empty() bool {
	for _, word := range b {
		if word != 0 {
			return false
		}
	}
	return true
}
