package solve

import "math/bits"

// A bound is proven in integers: the shares found by the relaxation, which floats may have got slightly wrong, become integer prices
// per unit that add up to no more than the price of the host, and everything is rounded so that the bound can only get smaller.
//
// Money is counted in fractions of a micro-dollar here, needs are rounded down and rooms up to fewer bits, so that products fit.

const (
	roomBits = 28
	topPrice = 1 << 40 // no host is taken to cost more than this in a bound

	maxWholePrice = 1 << 32 // bounds in whole items or hosts do not reckon with hosts that cost more, in so many bits
)

// proof is the prices of a relaxation in integers: a price per unit of each dimension and limit on each kind of host, none of which
// makes a full host worth more than it costs, and what a unit of each budget is worth.
type proof struct {
	relaxation   *relaxation
	shift        []uint // of each dimension, by how many bits rooms and needs are made smaller
	units        []int64
	budgetPrices []int64
}

// newProof makes integers of the shares of the relaxation as they stand.
func newProof(f *relaxation) *proof {
	p := &proof{relaxation: f, shift: make([]uint, f.model.dims), units: make([]int64, len(f.kinds.all)*f.width), budgetPrices: make([]int64, len(f.budgetPrice))}
	for d, room := range f.model.mostRoom(allHosts(f.model)) {
		p.shift[d] = uint(max(bits.Len64(uint64(room))-roomBits, 0))
	}
	for b := range f.budgetPrice {
		p.budgetPrices[b] = p.intBudgetPrice(b)
	}
	share, size := make([]float64, f.width), make([]int64, f.width)
	for n := range f.kinds.all {
		price := p.price(&f.kinds.all[n])
		f.shares(int32(n), float64(price)/(1<<moneyBits), share)
		for d := range size {
			size[d] = p.size(int32(n), d)
		}
		row := p.unit(int32(n))
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
	return p
}

// intBudgetPrice rounds the price of a budget, or gives it up where products would not fit.
func (p *proof) intBudgetPrice(b int) int64 {
	most := int64(1)
	for _, h := range p.relaxation.kinds.all {
		for _, d := range h.draws {
			if d.Budget == b {
				most = max(most, d.Amount)
			}
		}
	}
	budgetPrice := float64(p.relaxation.budgetPrice[b] * (1 << moneyBits))
	if float64(budgetPrice*float64(most)) > 1<<57 {
		return 0
	}
	return int64(budgetPrice)
}

// price is what a host costs with what its draws on budgets are worth.
func (p *proof) price(h *host) int64 {
	price := min(h.price+p.relaxation.charge, topPrice) << moneyBits
	for _, d := range h.draws {
		price += p.budgetPrices[d.Budget] * d.Amount
	}
	return price
}

// unit is the price of one unit of each dimension and limit on a kind.
func (p *proof) unit(n int32) []int64 {
	return p.units[int(n)*p.relaxation.width:][:p.relaxation.width]
}

// need is a need in few bits, rounded down.
func (p *proof) need(d int, n int64) int64 { return n >> p.shift[d] }

// size is what a kind has of a dimension in few bits, rounded up, or allows of a limit.
func (p *proof) size(n int32, d int) int64 {
	if d < p.relaxation.model.dims {
		return (p.relaxation.kinds.all[n].room[d] + 1<<p.shift[d] - 1) >> p.shift[d]
	}
	return int64(p.relaxation.limits[d-p.relaxation.model.dims].cap)
}

// full is what a full host of a kind is worth.
func (p *proof) full(n int32) int64 {
	sum := int64(0)
	for d, u := range p.unit(n) {
		sum += u * p.size(n, d)
	}
	return sum
}

func total(unit, size []int64) int64 {
	sum := int64(0)
	for d, u := range unit {
		sum += u * size[d]
	}
	return sum
}

// worth returns what one item of each class is worth, in fractions of a micro-dollar.
func (p *proof) worth() []int64 {
	f := p.relaxation
	out := make([]int64, len(f.model.classes))
	need := make([]int64, f.model.dims)
	for c := range f.model.classes {
		k := &f.model.classes[c]
		for d, n := range k.need {
			need[d] = p.need(d, n)
		}
		least := int64(huge)
		for _, n := range f.kinds.takers(c) {
			row := p.unit(n)
			sum := int64(0)
			for d, n := range need {
				sum += n * row[d]
			}
			for _, l := range f.capsOf[c] {
				sum += row[f.model.dims+int(l)]
			}
			least = min(least, sum)
		}
		f.steps += len(f.kinds.takers(c))
		out[c] = least
	}
	return out
}

// load is what one item of the class comes to at prices for units of room, or huge if that is more.
func (p *proof) load(c int32, unit []int64) int64 {
	sum := int64(0)
	for d, n := range p.relaxation.model.classes[c].need {
		sum = plus(sum, product(unit[d], int(p.need(d, n))))
	}
	for _, l := range p.relaxation.capsOf[c] {
		sum = plus(sum, unit[p.relaxation.model.dims+int(l)])
	}
	return sum
}

// budgets is what all budgets are worth.
func (p *proof) budgets() sum128 {
	var sum sum128
	for b, budgetPrice := range p.budgetPrices {
		sum.add(p.relaxation.model.budgets[b], budgetPrice)
	}
	return sum
}

// boundByPrices returns the proven bound on the cost of placing so many of each class, and what one of each is worth.
func (f *relaxation) boundByPrices(placed []int) (int64, []int64) {
	p := newProof(f)
	worth := p.worth()
	var sum sum128
	for c, n := range placed {
		sum.add(int64(n), worth[c])
	}
	return max(sum.micros(p.budgets()), f.model.boundByOneClass(placed, f.charge)), worth
}
