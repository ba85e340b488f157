package solve

import "math/bits"

// A bound is proven in integers: the shares found by the relaxation, which floats may have got slightly wrong, become integer prices
// per unit that add up to no more than the price of the host, and everything is rounded so that the bound can only get smaller.
//
// Money is counted in fractions of a micro-dollar here, needs are rounded down and rooms up to fewer bits, so that products fit.

const (
	moneyBits = 20
	roomBits  = 28
	topPrice  = 1 << 40 // no host is taken to cost more than this in a bound
)

// coarse is the rooms and needs in few bits, a shift for each dimension.
type coarse []uint

func newCoarse(m *model) coarse {
	shift := make(coarse, m.dims)
	for d, room := range m.mostRoom(allHosts(m)) {
		shift[d] = uint(max(bits.Len64(uint64(room))-roomBits, 0))
	}
	return shift
}

func (s coarse) need(d int, n int64) int64 { return n >> s[d] }
func (s coarse) room(d int, n int64) int64 { return (n + 1<<s[d] - 1) >> s[d] }

// tariff is integer prices per unit for each host, and what a unit of each budget is worth.
type tariff struct {
	unit []int64
	toll []int64
}

// proof turns the shares into integer prices, none of which makes a full host worth more than it costs.
func (f *fluid) proof(s coarse) tariff {
	t := tariff{unit: make([]int64, len(f.share)), toll: make([]int64, len(f.toll))}
	for b := range f.toll {
		t.toll[b] = f.intToll(b)
	}
	share := make([]float64, f.width)
	size := make([]int64, f.width)
	for n, h := range f.kinds.all {
		price := min(h.price+f.charge, topPrice) << moneyBits
		for _, d := range h.draws {
			price += t.toll[d.Budget] * d.Amount
		}
		row := t.unit[n*f.width : (n+1)*f.width]
		f.shares(int32(n), float64(price)/(1<<moneyBits), share)
		for d, room := range h.room {
			size[d] = s.room(d, room)
		}
		for l := range f.limits {
			size[f.m.dims+l] = int64(f.limits[l].cap)
		}
		for d := range row {
			if size[d] > 0 {
				row[d] = int64(float64(price) * share[d] / float64(size[d]))
			}
		}
		for total(row, size) > price {
			for d := range row {
				row[d] -= row[d]/(1<<20) + min(row[d], 1)
			}
		}
	}
	return t
}

// intToll rounds the toll of a budget, or gives it up where products would not fit.
func (f *fluid) intToll(b int) int64 {
	most := int64(1)
	for _, h := range f.kinds.all {
		for _, d := range h.draws {
			if d.Budget == b {
				most = max(most, d.Amount)
			}
		}
	}
	toll := float64(f.toll[b] * (1 << moneyBits))
	if float64(toll*float64(most)) > 1<<57 {
		return 0
	}
	return int64(toll)
}

func total(unit, size []int64) int64 {
	sum := int64(0)
	for d, u := range unit {
		sum += u * size[d]
	}
	return sum
}

// worth returns what one item of each class is worth under the tariff, in fractions of a micro-dollar.
func (f *fluid) worth(t tariff, s coarse) []int64 {
	out := make([]int64, len(f.m.classes))
	need := make([]int64, f.m.dims)
	for c := range f.m.classes {
		k := &f.m.classes[c]
		for d, n := range k.need {
			need[d] = s.need(d, n)
		}
		least := int64(huge)
		for _, n := range f.kinds.takers(c) {
			row := t.unit[int(n)*f.width : (int(n)+1)*f.width]
			sum := int64(0)
			for d, n := range need {
				sum += n * row[d]
			}
			for _, l := range f.capsOf[c] {
				sum += row[f.m.dims+int(l)]
			}
			least = min(least, sum)
		}
		f.steps += len(f.kinds.takers(c))
		out[c] = least
	}
	return out
}

// money sums amounts times prices in 128 bits, so that no count overflows it.
type money struct{ hi, lo uint64 }

func (s *money) add(n, price int64) {
	if n <= 0 || price <= 0 {
		return
	}
	hi, lo := bits.Mul64(uint64(n), uint64(price))
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi += hi + carry
}

// micros returns the sum less other in micro-dollars, rounded up because all prices are whole; below 0 it is 0.
func (s money) micros(other money) int64 {
	lo, borrow := bits.Sub64(s.lo, other.lo, 0)
	hi, under := bits.Sub64(s.hi, other.hi, borrow)
	if under != 0 || hi>>(moneyBits-1) != 0 {
		return 0
	}
	var carry uint64
	lo, carry = bits.Add64(lo, 1<<moneyBits-1, 0)
	hi += carry
	return int64(hi<<(64-moneyBits) | lo>>moneyBits)
}

// bound returns the proven bound on the cost of placing so many of each class, and what one of each is worth.
func (f *fluid) bound(placed []int) (int64, []int64) {
	s := newCoarse(f.m)
	t := f.proof(s)
	worth := f.worth(t, s)
	var sum, tolls money
	for c, n := range placed {
		sum.add(int64(n), worth[c])
	}
	for b, toll := range t.toll {
		tolls.add(f.m.budgets[b], toll)
	}
	return max(sum.micros(tolls), f.m.alone(placed, f.charge)), worth
}

// alone is the bound of the class that would cost most if it were the only one: so many hosts must hold it, none cheaper for it than its cheapest.
// For that class the best way to place it alone is then worked out.
func (m *model) alone(placed []int, charge int64) int64 {
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
