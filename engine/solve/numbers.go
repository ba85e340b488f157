package solve

import (
	"math"
	"math/bits"
)

// huge stands for any amount that is too large to be added up, and is far enough below the largest number for a sum of some.
const huge = math.MaxInt64 / 4

// plus is a sum of numbers that are not below 0, or huge if it is above that.
func plus(a, b int64) int64 {
	if a > huge-b {
		return huge
	}
	return a + b
}

// product is n times a number that is not below 0, or huge if it is above that.
func product(x int64, n int) int64 {
	hi, lo := bits.Mul64(uint64(x), uint64(n))
	if hi > 0 || lo > huge {
		return huge
	}
	return int64(lo)
}

// scramble is a number that looks as if it were drawn, another for each x.
func scramble(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
