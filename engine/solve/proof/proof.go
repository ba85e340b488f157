// Package proof makes bounds of prices: what all items are worth at integer prices at which no host holds more than it costs.
//
// Everything is rounded such that a bound can only get smaller: needs down, rooms up. Other proofs, of package pattern, block
// and integer, build on the same integer prices. A mistake here makes bounds wrong that people and the search rely on; no plan changes by it
// but where a bound says that it is good enough.
package proof

import (
	"math/bits"

	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// A bound is proven in integers: the shares found by the relaxation, which floats may have got slightly wrong, become integer prices
// per unit that add up to no more than the price of the host, and everything is rounded so that the bound can only get smaller.
//
// Money is counted in fractions of a micro-dollar here, needs are rounded down and rooms up to fewer bits, so that products fit.

const (
	roomBits = 28
	topPrice = 1 << 40 // no host is taken to cost more than this in a bound

	MaxWholePrice = 1 << 32 // bounds in whole items or hosts do not reckon with hosts that cost more, in so many bits
)

// Proof is the prices of a relaxation in integers: a price per unit of each dimension and limit on each kind of host, none of which
// makes a full host worth more than it costs, and what a unit of each budget is worth.
type Proof struct {
	Relaxation   *relax.Relaxation // of which it is
	shift        []uint            // of each dimension, by how many bits rooms and needs are made smaller
	units        []int64
	budgetPrices []int64
}

// New makes integers of the shares of the relaxation as they stand.
func New(f *relax.Relaxation) *Proof {
	p := &Proof{Relaxation: f, shift: make([]uint, f.Model.Dims), units: make([]int64, len(f.Kinds.All)*f.Width), budgetPrices: make([]int64, len(f.BudgetPrice))}
	for d, room := range f.Model.MostRoom(model.AllHosts(f.Model)) {
		p.shift[d] = uint(max(bits.Len64(uint64(room))-roomBits, 0))
	}
	for b := range f.BudgetPrice {
		p.budgetPrices[b] = p.intBudgetPrice(b)
	}
	share, size := make([]float64, f.Width), make([]int64, f.Width)
	for n := range f.Kinds.All {
		price := p.Price(&f.Kinds.All[n])
		f.Shares(int32(n), float64(price)/(1<<MoneyBits), share)
		for d := range size {
			size[d] = p.Size(int32(n), d)
		}
		row := p.Unit(int32(n))
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
func (p *Proof) intBudgetPrice(b int) int64 {
	most := int64(1)
	for _, h := range p.Relaxation.Kinds.All {
		for _, d := range h.Draws {
			if d.Budget == b {
				most = max(most, d.Amount)
			}
		}
	}
	budgetPrice := float64(p.Relaxation.BudgetPrice[b] * (1 << MoneyBits))
	if float64(budgetPrice*float64(most)) > 1<<57 {
		return 0
	}
	return int64(budgetPrice)
}

// Price is what a host costs with what its draws on budgets are worth.
func (p *Proof) Price(h *model.Host) int64 {
	price := min(h.Price+p.Relaxation.Charge, topPrice) << MoneyBits
	for _, d := range h.Draws {
		price += p.budgetPrices[d.Budget] * d.Amount
	}
	return price
}

// Unit is the price of one unit of each dimension and limit on a kind.
func (p *Proof) Unit(n int32) []int64 {
	return p.units[int(n)*p.Relaxation.Width:][:p.Relaxation.Width]
}

// Need is a need in few bits, rounded down.
func (p *Proof) Need(d int, n int64) int64 { return n >> p.shift[d] }

// Size is what a kind has of a dimension in few bits, rounded up, or allows of a limit.
func (p *Proof) Size(n int32, d int) int64 {
	if d < p.Relaxation.Model.Dims {
		return (p.Relaxation.Kinds.All[n].Room[d] + 1<<p.shift[d] - 1) >> p.shift[d]
	}
	return int64(p.Relaxation.Limits[d-p.Relaxation.Model.Dims].Cap)
}

// Full is what a full host of a kind is worth.
func (p *Proof) Full(n int32) int64 {
	sum := int64(0)
	for d, u := range p.Unit(n) {
		sum += u * p.Size(n, d)
	}
	return sum
}

// total is what a host is worth that has so much.
func total(unit, size []int64) int64 {
	sum := int64(0)
	for d, u := range unit {
		sum += u * size[d]
	}
	return sum
}

// Worth returns what one item of each class is worth, in fractions of a micro-dollar.
func (p *Proof) Worth() []int64 {
	f := p.Relaxation
	out := make([]int64, len(f.Model.Classes))
	need := make([]int64, f.Model.Dims)
	for c := range f.Model.Classes {
		k := &f.Model.Classes[c]
		for d, n := range k.Need {
			need[d] = p.Need(d, n)
		}
		least := int64(model.Huge)
		for _, n := range f.Kinds.Takers(c) {
			row := p.Unit(n)
			sum := int64(0)
			for d, n := range need {
				sum += n * row[d]
			}
			for _, l := range f.CapsOf[c] {
				sum += row[f.Model.Dims+int(l)]
			}
			least = min(least, sum)
		}
		f.Steps += len(f.Kinds.Takers(c))
		out[c] = least
	}
	return out
}

// Load is what one item of the class comes to at prices for units of room, or huge if that is more.
func (p *Proof) Load(c int32, unit []int64) int64 {
	sum := int64(0)
	for d, n := range p.Relaxation.Model.Classes[c].Need {
		sum = model.Plus(sum, model.Product(unit[d], int(p.Need(d, n))))
	}
	for _, l := range p.Relaxation.CapsOf[c] {
		sum = model.Plus(sum, unit[p.Relaxation.Model.Dims+int(l)])
	}
	return sum
}

// Budgets is what all budgets are worth.
func (p *Proof) Budgets() Sum128 {
	var sum Sum128
	for b, budgetPrice := range p.budgetPrices {
		sum.Add(p.Relaxation.Model.Budgets[b], budgetPrice)
	}
	return sum
}

// Bound returns the proven bound on the cost of placing so many of each class, and what one of each is worth.
func Bound(f *relax.Relaxation, placed []int) (int64, []int64) {
	p := New(f)
	worth := p.Worth()
	var sum Sum128
	for c, n := range placed {
		sum.Add(int64(n), worth[c])
	}
	return max(sum.Micros(p.Budgets()), boundByOneClass(f.Model, placed, f.Charge)), worth
}
