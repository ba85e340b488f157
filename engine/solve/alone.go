package solve

import "math/bits"

// boundByOneClass is the bound of the class that would cost most if it were the only one: so many hosts must hold it, none cheaper for it than its cheapest.
// For that class the best way to place it alone is then worked out.
func (m *model) boundByOneClass(placed []int, charge int64) int64 {
	best, dearest := int64(0), int32(-1)
	for c, n := range placed {
		if n == 0 {
			continue
		}
		k := &m.classes[c]
		least := int64(huge)
		k.takers.each(func(h int) {
			each := int64(times(k.need, m.hosts[h].room, min(k.cap, n)))
			// A host that holds each of them at this price makes n of them cost at least price*n/each, and never less than one host.
			price := m.hosts[h].price + charge
			hi, lo := bits.Mul64(uint64(max(price, 0)), uint64(n))
			cost := int64(huge)
			if hi < uint64(each) {
				q, rest := bits.Div64(hi, lo, uint64(each))
				if q < huge {
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
		if goal, hosts := m.cover(dearest, placed[dearest], charge); hosts != nil {
			best = max(best, goal)
		}
	}
	return best
}
