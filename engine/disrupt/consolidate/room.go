package consolidate

import (
	"math"

	"github.com/tenon-sh/tenon/engine/money"
)

// room is what can be had for a price: so much of everything that pods ask for.
type room struct {
	size  []float64
	price float64
}

// roomOf is so much room, and what it costs.
func roomOf(size []int64, price float64) room {
	r := room{size: make([]float64, len(size)), price: price}
	for d, n := range size {
		r.size[d] = float64(max(n, 0))
	}
	return r
}

// worth is what the room is worth if a unit of everything is worth so much.
func (r room) worth(unit []float64) float64 {
	sum := 0.0
	for d, n := range r.size {
		sum += float64(unit[d] * n)
	}
	return sum
}

// value finds out what the room on each machine is worth. A machine that is
// kept costs its price less what it saves in moves, so room gets the dearer the
// more of these machines are needed, until new ones are no dearer.
func (s *search) value() {
	y := s.cluster
	var need []float64
	for _, n := range y.Need() {
		need = append(need, float64(n))
	}
	var have, sold []room
	var whose []int
	for i := range s.machines {
		m := &s.machines[i]
		r := roomOf(y.Room(i), float64(m.net()))
		switch {
		case m.why == nil:
			have, whose = append(have, r), append(whose, i)
		case m.takes:
			for d, n := range r.size {
				need[d] = max(need[d]-n, 0)
			}
		}
	}
	y.Sold(func(size []int64, price money.Micro) {
		sold = append(sold, roomOf(size, float64(price)*purchasePremiumPercent/100))
	})
	if len(have) == 0 || len(sold) == 0 {
		return
	}
	unit := balance(need, have, sold)
	for n, i := range whose {
		s.machines[i].room = have[n].worth(unit)
	}
}

// maxPriceAdjustments is how often prices are adjusted to what is needed.
const maxPriceAdjustments = 150

// balance returns what a unit of everything is worth if so much of it is needed,
// each of the rooms there can be had once, and those sold as often as is wanted:
// the prices at which what is worth having is just what is needed.
//
// These are prices of the relaxation in which pods are poured, and however they
// are chosen no plan costs less than need is worth, less what the rooms there
// are worth beyond their prices. The best of those that were tried are taken.
func balance(need []float64, have, sold []room) []float64 {
	unit := make([]float64, len(need))
	for d, n := range need {
		if n > 0 {
			unit[d] = 1 / n
		}
	}
	best, most := unit, math.Inf(-1)
	for turn := range maxPriceAdjustments {
		tight := lower(unit, sold, turn == 0)
		value, gap := short(unit, need, have, tight)
		if value > most {
			best, most = append([]float64(nil), unit...), value
		}
		step := 0.5 / (1 + float64(turn)/8)
		for d, n := range need {
			if n > 0 {
				unit[d] *= 1 + float64(step*max(min(gap[d]/n, 1), -1))
			}
		}
	}
	return best
}

// lower lowers the prices, or raises them if asked to, until no room that is
// sold is worth more than it costs. It returns one that is worth as much; nil if all are worth less.
func lower(unit []float64, sold []room, raise bool) *room {
	var tight *room
	excess := 0.0
	for i := range sold {
		if x := sold[i].worth(unit) / max(sold[i].price, 1); x > excess {
			tight, excess = &sold[i], x
		}
	}
	if excess == 0 || excess <= 1 && !raise {
		return nil
	}
	for d := range unit {
		unit[d] /= excess
	}
	return tight
}

// short is how much is missing if all rooms are had that are worth more than
// they cost, and as much of the one that is sold for what it is worth as the rest
// is worth. It also returns the bound that the prices prove.
func short(unit, need []float64, have []room, tight *room) (value float64, gap []float64) {
	gap = append(gap, need...)
	for d, n := range need {
		value += float64(unit[d] * n)
	}
	for i := range have {
		if over := have[i].worth(unit) - have[i].price; over > 0 {
			value -= over
			for d, n := range have[i].size {
				gap[d] -= n
			}
		}
	}
	left := 0.0
	for d, g := range gap {
		left += float64(unit[d] * g)
	}
	if tight != nil && left > 0 {
		for d, n := range tight.size {
			gap[d] -= float64(n * left / max(tight.price, 1))
		}
	}
	return value, gap
}
