// Package money is amounts of money in whole millionths, so that sums are exact and the same on every computer.
package money

import (
	"fmt"
	"math"
	"strings"
)

// Micro is an amount of money in millionths of its currency; of a price, for an hour.
type Micro int64

const scale = 1_000_000

// most is the largest amount that is read, in units. No machine costs so much an
// hour; what is above it is a slip, and sums of many thousand would not overflow.
const most = 1_000_000

// Of is an amount of so many units, to the nearest millionth. It is false for what
// is no amount that is read: less than nothing, more than a million, or no number.
func Of(units float64) (Micro, bool) {
	if !(units >= 0 && units <= most) {
		return 0, false
	}
	return Micro(math.Floor(float64(units*scale) + 0.5)), true
}

// Units is the amount in units of the currency, for people and for metrics.
func (m Micro) Units() float64 { return float64(m) / scale }

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
