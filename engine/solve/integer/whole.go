// Package integer counts in whole hosts: how many of each kind there are at least, by branch and bound.
//
// What items demand of hosts are cuts (demands), one for each pricing by the simplex method of package relax; what hosts that meet all demands
// cost at least is found by the dual simplex method (tableau.go) on branches (whole.go), and proven in integers. It is for bounds that a
// person waits for; no plan depends on it.
package integer

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/proof"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// The relaxation opens a third of a host, and where a handful of large hosts is enough, that a part of one is open makes up much of
// the bound. But what it proves says more: however items are priced, no host holds more than what its room is worth, so that the hosts
// of every plan must together be worth as much as all items. Each pricing is such a demand on how many hosts of each kind there are, and a few of
// them leave little choice: those at which hosts are worth what they cost, and those at which one is not that would seem to do.
// What whole numbers of hosts cost at least that meet all demands is a bound.
//
// It is looked for by branch and bound: hosts that meet all demands at least cost are found, and where they do not suffice when
// items are poured, that makes another demand (relax.Simplex). What is found in floats is counted over in whole numbers: for each demand
// a price, such that no host saves anything.

// hostProgram looks for how many hosts of each kind there are at least.
type hostProgram struct {
	program
	relaxation *relax.Relaxation
	simplex    *relax.Simplex
	placed     []int
	open       []branch // a heap, the least bound first
	table      tableau
	goal       int64
	idle       int // how often rounded hosts have sufficed since they last did not
	retired    int // steps of simplexes that are no more
}

const (
	wholeHostSteps = 20_000_000      // bound on the counted work
	wholeHostClose = 10_000          // of so many parts of the cost the bound may lack one
	priceBits      = proof.MoneyBits // of the price of a demand, for parts of a micro-dollar
	mostHosts      = 1 << 20         // in all
	mostDemands    = 40
	mostAdded      = 20 // hosts beside those rounded down
	budgetBits     = 16 // of the most that a host draws from a budget
	patience       = 2  // how often hosts are rounded of no use before they are less often
	oftenRounded   = 50 // how many branches there are to one of which hosts are rounded then
)

// Bound improves on a bound by counting in whole hosts.
func Bound(f *relax.Relaxation, placed []int, bound, goal int64) int64 {
	x := &hostProgram{relaxation: f, placed: placed, goal: goal}
	items := 0
	for _, n := range placed {
		items += n
	}
	if items > mostHosts {
		return bound
	}
	for _, h := range f.Kinds.All {
		if h.Price+f.Charge > proof.MaxWholePrice {
			return bound
		}
		x.price = append(x.price, h.Price+f.Charge)
	}
	if x.simplex = relax.NarrowSimplex(f); x.simplex == nil {
		return bound
	}
	f.Settle()
	bound = max(bound, x.count())
	f.Steps += x.steps()
	return bound
}

// count counts hosts, and returns the bound.
func (x *hostProgram) count() int64 {
	x.require(make([]float64, len(x.price)))
	x.budgets()
	x.push(x.all())
	for round := 0; !x.enough(&x.open[0]) && x.more(); round++ {
		b := x.pop()
		stale := b.known < len(x.demands)
		if stale {
			x.prove(&b)
		}
		for (x.idle < patience || round%oftenRounded == 0) && !x.enough(&b) && x.askMore(&b) {
			x.prove(&b)
			stale = true
		}
		if stale { // another may have the least bound now
			x.push(b)
			continue
		}
		if kind, all := b.fraction(x.price); kind >= 0 {
			x.split(b, kind, all)
			continue
		}
		more := x.require(b.hosts)
		x.push(b)
		if !more {
			break
		}
	}
	return min(x.open[0].bound, x.goal)
}

// all is all ways to open hosts that cost no more than is known to do.
func (x *hostProgram) all() branch {
	b := branch{low: make([]int32, len(x.price)), high: make([]int32, len(x.price)), most: mostHosts}
	for n, price := range x.price {
		b.high[n] = int32(min(x.goal/max(price, 1)+1, mostHosts))
	}
	x.prove(&b)
	return b
}

// more reports whether more may be done.
func (x *hostProgram) more() bool { return x.steps() < wholeHostSteps }

func (x *hostProgram) steps() int { return x.table.steps + x.retired + x.simplex.Steps }

// askMore rounds the hosts of a branch such that all demands are met, and reports whether items demand more than these.
func (x *hostProgram) askMore(b *branch) bool {
	hosts := x.rounded(b)
	if hosts == nil || !x.require(hosts) {
		x.idle++
		return false
	}
	x.idle = 0
	return true
}

// rounded is the hosts of a branch rounded down, and beside them the cheapest that help most to meet what is lacking; nil if none do.
func (x *hostProgram) rounded(b *branch) []float64 {
	hosts := make([]float64, len(b.hosts))
	lack := make([]float64, len(x.demands))
	for k, d := range x.demands {
		lack[k] = float64(d.need)
	}
	add := func(n int, y float64) {
		hosts[n] += y
		for k, d := range x.demands {
			lack[k] -= float64(float64(d.give[n]) * y)
		}
	}
	for n, y := range b.hosts {
		add(n, math.Floor(y+1e-6))
	}
	for range mostAdded {
		best, most := -1, 0.0
		lacking := false
		for n, price := range x.price {
			helps := 0.0
			for k, d := range x.demands {
				if d.need > 0 && lack[k] > 0 {
					lacking = true
					helps += min(float64(d.give[n])/lack[k], 1)
				}
			}
			if each := helps / float64(price+1); each > most {
				best, most = n, each
			}
		}
		if !lacking {
			return hosts
		}
		if best < 0 {
			return nil
		}
		add(best, 1)
	}
	return nil
}

// enough reports whether a branch can hardly cost less than the best solution that is known.
func (x *hostProgram) enough(b *branch) bool { return b.bound >= x.goal-x.goal/wholeHostClose }

// require adds the demand that items make beside so many hosts; false if these suffice.
func (x *hostProgram) require(hosts []float64) bool {
	if len(x.demands) >= mostDemands || !x.lookAt(hosts) {
		return false
	}
	open := make([]float64, len(x.simplex.Kinds))
	for p, n := range x.simplex.Kinds {
		open[p] = hosts[n]
	}
	x.simplex.Solve(open)
	x.simplex.Appraise()
	x.simplex.Price(x.relaxation)
	d, ok := x.demand()
	if !ok {
		return false
	}
	lacking := d.need
	for n, y := range hosts {
		lacking -= d.give[n] * int64(math.Floor(y+0.5))
	}
	if lacking > 0 {
		x.demands = append(x.demands, d)
	}
	return lacking > 0
}

// demand is what the shares of the relaxation as they stand say in whole numbers; false if these would be too large.
func (x *hostProgram) demand() (d demand, ok bool) {
	p := proof.New(x.relaxation)
	var sum proof.Sum128
	for c, w := range p.Worth() {
		sum.Add(int64(x.placed[c]), w)
	}
	need, ok := sum.Whole()
	if !ok { // a price times a need would not fit either
		return d, false
	}
	d.need = int64(need)
	for n := range x.relaxation.Kinds.All {
		give := (p.Full(int32(n)) + 1<<proof.MoneyBits - 1) >> proof.MoneyBits
		d.give = append(d.give, min(give, d.need)) // more than is needed is of no use: hosts are whole
	}
	return d, true
}

// lookAt has the simplex look at the kinds of these hosts too; false if that makes it too large.
func (x *hostProgram) lookAt(hosts []float64) bool {
	look := slices.Clone(x.simplex.Kinds)
	for n, y := range hosts {
		if at, found := slices.BinarySearch(look, int32(n)); y > 0 && !found {
			look = slices.Insert(look, at, int32(n))
		}
	}
	if len(look) == len(x.simplex.Kinds) {
		return true
	}
	b := relax.NewSimplex(x.relaxation.Considering(look))
	if b == nil {
		return false
	}
	x.retired += x.simplex.Steps
	x.simplex = b
	return true
}

// budgets makes demands of the budgets: that hosts take no more, in so few bits that products fit.
func (x *hostProgram) budgets() {
	for b, budget := range x.relaxation.Model.Budgets {
		d := demand{give: make([]int64, len(x.price))}
		most := int64(0)
		for n := range x.relaxation.Kinds.All {
			for _, draw := range x.relaxation.Kinds.All[n].Draws {
				if draw.Budget == b {
					d.give[n], most = draw.Amount, max(most, draw.Amount)
				}
			}
		}
		if most == 0 {
			continue
		}
		shift := bits.Len64(uint64(most)) - budgetBits
		for n := range d.give {
			d.give[n] = -shifted(d.give[n], shift)
		}
		if shift < 0 && budget > model.Huge>>-shift {
			continue
		}
		d.need = -shifted(budget, shift)
		x.demands = append(x.demands, d)
	}
}

// shifted is n in fewer or more bits, rounded down.
func shifted(n int64, shift int) int64 {
	if shift < 0 {
		return n << -shift
	}
	return n >> shift
}

// fraction finds the kind of which least is known whether there is one more, or that not even the number of all hosts is whole; below 0 if
// all are whole.
func (b *branch) fraction(price []int64) (kind int, all bool) {
	sum, kind, most := 0.0, -1, 0.0
	for n, y := range b.hosts {
		sum += y
		part := y - math.Floor(y)
		if off := min(part, 1-part); off > 1e-6 {
			if score := off * float64(price[n]); score > most {
				kind, most = n, score
			}
		}
	}
	part := sum - math.Floor(sum)
	return kind, kind >= 0 && min(part, 1-part) > 0.05
}

// split opens two branches instead of one: in the first there are fewer hosts of a kind, or of all, in the second more.
func (x *hostProgram) split(b branch, kind int, all bool) {
	fewer, more := b, b
	if all {
		sum := 0.0
		for _, y := range b.hosts {
			sum += y
		}
		fewer.most, more.least = int32(math.Floor(sum)), int32(math.Floor(sum))+1
	} else {
		at := int32(math.Floor(b.hosts[kind]))
		fewer.high, more.low = slices.Clone(b.high), slices.Clone(b.low)
		fewer.high[kind], more.low[kind] = at, at+1
	}
	x.prove(&fewer)
	x.prove(&more)
	x.push(fewer)
	x.push(more)
}

// prove finds hosts for a branch, and proves what it costs at least.
func (x *hostProgram) prove(b *branch) {
	var prices []float64
	prices, b.hosts = x.table.solve(&x.program, b, 2*float64(x.goal))
	b.known = len(x.demands)
	b.bound = max(b.bound, x.proof(b, prices))
}

// push opens a branch.
func (x *hostProgram) push(b branch) {
	x.open = append(x.open, b)
	for i := len(x.open) - 1; i > 0; {
		up := (i - 1) / 2
		if x.open[up].bound <= x.open[i].bound {
			break
		}
		x.open[up], x.open[i] = x.open[i], x.open[up]
		i = up
	}
}

// pop takes the branch with the least bound.
func (x *hostProgram) pop() branch {
	b, last := x.open[0], len(x.open)-1
	x.open[0] = x.open[last]
	x.open = x.open[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			return b
		}
		if c+1 < last && x.open[c+1].bound < x.open[c].bound {
			c++
		}
		if x.open[i].bound <= x.open[c].bound {
			return b
		}
		x.open[i], x.open[c] = x.open[c], x.open[i]
		i = c
	}
}

// proof is what the hosts of a branch cost at least that meet all demands, each of which has a price.
func (x *hostProgram) proof(b *branch, prices []float64) int64 {
	var plus, minus proof.Sum128
	price := make([]int64, len(prices))
	for k, p := range prices {
		if p = math.Floor(p * (1 << priceBits)); p <= 0 || p >= model.Huge {
			continue
		}
		price[k] = int64(p)
		need := x.need(b, k)
		plus.Add(need, price[k])
		minus.Add(-need, price[k])
	}
	for n := range x.price {
		left, about := x.price[n]<<priceBits, float64(x.price[n])*(1<<priceBits)
		for k, p := range price {
			give := x.give(k, n)
			about += math.Abs(float64(p) * float64(give))
			left -= p * give
		}
		if about > model.Huge {
			return 0
		}
		plus.Add(int64(b.low[n]), left)
		minus.Add(int64(b.high[n]), -left)
	}
	return plus.Micros(minus)
}
