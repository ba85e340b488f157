package proof

import "math/bits"

// MoneyBits is how many bits of an amount of money in a proof are below a micro-dollar.
const MoneyBits = 20

// Sum128 sums amounts times prices in 128 bits, so that no count overflows it.
type Sum128 struct{ hi, lo uint64 }

// Add adds n times a price; what is not above 0 counts nothing.
func (s *Sum128) Add(n, price int64) {
	if n <= 0 || price <= 0 {
		return
	}
	hi, lo := bits.Mul64(uint64(n), uint64(price))
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi += hi + carry
}

// Micros returns the sum less other in micro-dollars, rounded up because all prices are whole; below 0 it is 0.
func (s Sum128) Micros(other Sum128) int64 {
	lo, borrow := bits.Sub64(s.lo, other.lo, 0)
	hi, under := bits.Sub64(s.hi, other.hi, borrow)
	if under != 0 || hi>>(MoneyBits-1) != 0 {
		return 0
	}
	var carry uint64
	lo, carry = bits.Add64(lo, 1<<MoneyBits-1, 0)
	hi += carry
	return int64(hi<<(64-MoneyBits) | lo>>MoneyBits)
}

// Plus adds a sum.
func (s *Sum128) Plus(other Sum128) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, other.lo, 0)
	s.hi += other.hi + carry
}

// Above is by how much the sum is above another, in micro-dollars rounded down; 0 if it is not.
func (s Sum128) Above(other Sum128) uint64 {
	lo, borrow := bits.Sub64(s.lo, other.lo, 0)
	hi, under := bits.Sub64(s.hi, other.hi, borrow)
	if under != 0 || hi>>(MoneyBits-1) != 0 {
		return 0
	}
	return hi<<(64-MoneyBits) | lo>>MoneyBits
}

// Whole is the sum in micro-dollars, rounded down; false if that does not fit with room to spare.
func (s Sum128) Whole() (n uint64, ok bool) {
	return s.hi<<(64-MoneyBits) | s.lo>>MoneyBits, s.hi == 0 && s.lo>>62 == 0
}
