// Package money is amounts of money in whole millionths, so that sums are exact and the same on every computer.
package money

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Micro is an amount of money in millionths of its currency; of a price, for an hour.
type Micro int64

const perUnit = 1_000_000

// maxUnits is the largest amount that is read, in units. No machine costs so much an
// hour; what is above it is a slip, and sums of many thousand would not overflow.
const maxUnits = 1_000_000

// Of is an amount of so many units, to the nearest millionth. It is false for what
// is no amount that is read: less than nothing, more than a million, or no number.
func Of(units float64) (Micro, bool) {
	if !(units >= 0 && units <= maxUnits) {
		return 0, false
	}
	return Micro(math.Floor(float64(units*perUnit) + 0.5)), true
}

// Hundred is a hundred units of the currency.
const Hundred Micro = 100 * perUnit

// Parse reads an amount as clouds write it: "0.0960000000". It is false for what
// is no amount that is read, see Of.
func Parse(text string) (Micro, bool) {
	units, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, false
	}
	return Of(units)
}

// Units is the amount in units of the currency, for JSON and metrics.
func (m Micro) Units() float64 { return float64(m) / perUnit }

// Times is so many times the amount. Here and below, what is more than can be counted is as much as can be.
func (m Micro) Times(n int) Micro { return m.Part(int64(n), 1) }

// Part is so many of so many parts of the amount, cut off below a millionth.
func (m Micro) Part(n, of int64) Micro {
	cut, _ := m.divide(n, of)
	return cut
}

// PartUp is Part, rounded up to a millionth.
func (m Micro) PartUp(n, of int64) Micro {
	_, up := m.divide(n, of)
	return up
}

// divide is n parts of the amount, of so many, cut off below a millionth and rounded up to one. The product has 128
// bits, so that only what comes of it may be more than can be counted.
func (m Micro) divide(n, of int64) (cut, up Micro) {
	hi, lo := bits.Mul64(size(int64(m)), size(n))
	if hi == 0 && lo <= math.MaxInt64 && of > 0 && (m < 0) == (n < 0) { // as almost always
		cut = Micro(lo / uint64(of))
		if up = cut; lo%uint64(of) > 0 {
			up++
		}
		return cut, up
	}
	over, hi := hi/size(of), hi%size(of)
	whole, rest := bits.Div64(hi, lo, size(of))
	negative := ((m < 0) != (n < 0)) != (of < 0)
	switch {
	case negative && (over > 0 || whole > math.MaxInt64):
		return math.MinInt64, math.MinInt64
	case over > 0 || whole > math.MaxInt64:
		return math.MaxInt64, math.MaxInt64
	case negative:
		return -Micro(whole), -Micro(whole)
	case rest > 0 && whole < math.MaxInt64:
		return Micro(whole), Micro(whole) + 1
	}
	return Micro(whole), Micro(whole)
}

// size is a number without its sign.
func size(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// Scale is the amount times a factor, to the nearest millionth.
func (m Micro) Scale(by float64) Micro {
	switch scaled := math.Floor(float64(float64(m)*by) + 0.5); {
	case scaled >= math.MaxInt64:
		return math.MaxInt64
	case scaled <= math.MinInt64:
		return math.MinInt64
	default:
		return Micro(scaled)
	}
}

// Text writes an amount with as many digits as a machine's price needs. The
// currency is as catalogues write it: empty for dollars, or such as CNY/h.
func (m Micro) Text(currency string) string {
	switch unit := strings.TrimSuffix(currency, "/h"); unit {
	case "", "USD":
		return fmt.Sprintf("$%.4f", m.Units())
	default:
		return fmt.Sprintf("%.4f %s", m.Units(), unit)
	}
}

// PerHour writes an amount that is paid every hour.
func (m Micro) PerHour(currency string) string { return m.Text(currency) + "/h" }

// Fixed writes the number alone, with so many digits behind the point.
func (m Micro) Fixed(digits int) string { return strconv.FormatFloat(m.Units(), 'f', digits, 64) }

// Decimal writes all digits and no currency, as clouds do: "0.096000".
func (m Micro) Decimal() string { return fmt.Sprintf("%d.%06d", m/perUnit, m%perUnit) }
