package model

import (
	"math"
	"math/bits"
)

// Huge stands for any amount that is too large to be added up, and is far enough below the largest number for a sum of some.
const Huge = math.MaxInt64 / 4

// Plus is a sum of numbers that are not below 0, or huge if it is above that.
func Plus(a, b int64) int64 {
	if a > Huge-b {
		return Huge
	}
	return a + b
}

// Product is n times a number that is not below 0, or huge if it is above that.
func Product(x int64, n int) int64 {
	hi, lo := bits.Mul64(uint64(x), uint64(n))
	if hi > 0 || lo > Huge {
		return Huge
	}
	return int64(lo)
}

// Scramble is a number that looks as if it were drawn, another for each x.
func Scramble(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
