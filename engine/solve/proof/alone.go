package proof

import (
	"math/bits"

	"github.com/tenon-sh/tenon/engine/solve/exact"
	"github.com/tenon-sh/tenon/engine/solve/model"
)

// boundByOneClass is the bound of the class that would cost most if it were the only one: so many hosts must hold it, none cheaper for it than its cheapest.
// For that class the best way to place it alone is then worked out.
func boundByOneClass(m *model.Model, placed []int, charge int64) int64 {
	best, dearest := int64(0), int32(-1)
	for c, n := range placed {
		if n == 0 {
			continue
		}
		k := &m.Classes[c]
		least := int64(model.Huge)
		k.Takers.Each(func(h int) {
			each := int64(model.Times(k.Need, m.Hosts[h].Room, min(k.Cap, n)))
			// A host that holds each of them at this price makes n of them cost at least price*n/each, and never less than one host.
			price := m.Hosts[h].Price + charge
			hi, lo := bits.Mul64(uint64(max(price, 0)), uint64(n))
			cost := int64(model.Huge)
			if hi < uint64(each) {
				q, rest := bits.Div64(hi, lo, uint64(each))
				if q < model.Huge {
					cost = int64(q)
					if rest > 0 {
						cost++
					}
				}
			}
			least = min(least, max(cost, price))
		})
		if least > best {
			best, dearest = least, int32(c)
		}
	}
	if dearest >= 0 {
		if goal, hosts := exact.Cover(m, dearest, placed[dearest], charge); hosts != nil {
			best = max(best, goal)
		}
	}
	return best
}
