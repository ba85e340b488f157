package solve

import (
	"math/bits"
	"slices"
)

// The relaxation pours, and no host is ever filled as well as that: three items of a third and a bit do not fit. A tighter bound
// takes whole items. Where no load of any host, in whole items, is worth more than the host costs, no plan costs less than all items
// together are worth. Such worths come from the linear program of patterns, a pattern being what one host holds (master.go); its
// patterns are found one after the other: where a load is worth more than its host (knapsack.go), that is one that is missing.
// However far that has come, the worths become a proof when they are made smaller until no load is worth too much.

const (
	maxPatternClasses = 40        // more classes leave little room unused, and the linear program would take long
	patternRounds     = 60        // how often patterns are looked for
	newPatterns       = 40        // how many are taken from one round
	patternsClose     = 1.001     // how close to the linear program a proof need come
	smoothing         = 0.6       // how much of the best worths known so far is in those that are tried
	patternSteps      = 1_000_000 // bound on the counted work
)

// closeEnough is how close to the relaxation a plan is close enough to be improved no more, and how close to a plan a bound is.
const closeEnough = 1.005

// patterns looks for worths in whole items.
type patterns struct {
	full   *fullest
	m      *model
	count  []int // of each class
	single []column
	lp     *master
	bound  int64
	proven []int64 // the worths behind the bound
	tolls  money
	limit  int // of the counted work
}

// evidence is what is known of ways to place the items.
type evidence struct {
	goal  int64  // what they can be placed for, to which the bound need not come closeEnough than close; 0: that is not known
	hosts []node // that were filled with some of them
}

// wholes improves on a bound, which what items are worth proves, by what is known of whole items.
func (f *fluid) wholes(placed []int, bound int64, worth []int64, e evidence) int64 {
	if e.goal > 0 && float64(bound)*closeEnough >= float64(e.goal) {
		return bound
	}
	x := &patterns{full: loosest(f), m: f.m, count: placed, bound: bound, proven: worth, limit: patternSteps}
	if !x.suits() || !x.singles() {
		return bound
	}
	x.begin(e.hosts)
	x.search(e.goal)
	f.steps += x.steps()
	return x.bound
}

// startPatterns solves the linear program of patterns at the prices of a relaxation, from patterns that are known; nil if that cannot be done.
func startPatterns(f *fluid, counts []int, known []node, limit int) *patterns {
	if len(f.m.classes) > maxPatternClasses {
		return nil
	}
	f = f.clone()
	bound, worth := f.bound(counts)
	x := &patterns{full: newFullest(f), m: f.m, count: counts, bound: bound, proven: worth, limit: limit}
	if !x.suits() || !x.singles() {
		return nil
	}
	x.begin(known)
	x.search(0)
	return x
}

// steps is the counted work.
func (x *patterns) steps() int { return x.full.steps + x.lp.steps }

// open opens as many hosts of each pattern as the linear program says, rounded down, and takes what they hold from what is left.
func (x *patterns) open(rem []int, budgets []int64) []node {
	var out []node
	for r, at := range x.lp.basis {
		for n := int(x.lp.amount[r] + 1e-6); n > 0; n-- {
			one, ok := x.openOne(&x.lp.columns[at], rem, budgets)
			if !ok {
				break
			}
			out = append(out, one)
		}
	}
	return out
}

// openOne opens a host of a pattern for what is left of its items; false if there is nothing of them, or budgets do not allow it.
func (x *patterns) openOne(col *column, rem []int, budgets []int64) (node, bool) {
	one := node{host: col.host, times: 1}
	for _, it := range col.items {
		if n := min(it.n, rem[it.class]); n > 0 {
			one.items = append(one.items, share{it.class, n})
		}
	}
	if col.host < 0 || len(one.items) == 0 || overdrawn(x.m.hosts[col.host].draws, budgets, 1) {
		return one, false
	}
	for _, it := range one.items {
		rem[it.class] -= it.n
	}
	x.m.refund(&one, budgets, -1)
	return one, true
}

// begin sets up the linear program with patterns that are known.
func (x *patterns) begin(known []node) {
	demand := make([]float64, len(x.count))
	for c, n := range x.count {
		demand[c] = float64(n)
	}
	x.lp = newMaster(demand, x.single)
	for _, n := range known {
		x.lp.columns = append(x.lp.columns, column{n.host, float64(x.full.price(n.host)), n.items})
	}
	x.tolls = x.full.proof.budgets()
}

// suits reports whether the problem is one that this can be done for.
func (x *patterns) suits() bool {
	if len(x.m.classes) > maxPatternClasses || len(x.m.classes) == 0 {
		return false
	}
	return !slices.ContainsFunc(x.m.hosts, func(h host) bool { return h.price > maxWholePrice })
}

// singles finds for each class the host on which it is cheapest alone.
func (x *patterns) singles() bool {
	x.single = make([]column, len(x.m.classes))
	for c := range x.m.classes {
		k := &x.m.classes[c]
		best := &x.single[c]
		k.takers.each(func(h int) {
			n := times(k.need, x.m.hosts[h].room, max(min(k.cap, k.count), 1))
			price := float64(x.full.price(int32(h)))
			if n > 0 && (best.items == nil || price/float64(n) < best.price/float64(best.items[0].n)) {
				*best = column{int32(h), price, []share{{int32(c), n}}}
			}
		})
		if best.items == nil {
			return false
		}
	}
	return true
}

// search looks for patterns until the proof is close to the linear program, or that does not get further.
func (x *patterns) search(goal int64) {
	smooth := smoothing
	stable := make([]float64, len(x.count)) // the worths of the best proof
	for c, w := range x.proven {
		stable[c] = float64(w)
	}
	tried := make([]float64, len(x.count))
	for range patternRounds {
		x.lp.solve(4 * len(x.count))
		for c, w := range x.lp.dual {
			tried[c] = float64(smooth*stable[c]) + float64((1-smooth)*w)
		}
		found, better := x.try(tried)
		if better {
			copy(stable, tried)
		}
		if goal > 0 && float64(x.bound)*closeEnough >= float64(goal) || float64(x.bound)*patternsClose >= x.value() || x.steps() > x.limit {
			return
		}
		gains := false
		for i := range found {
			gains = gains || x.lp.gain(&found[i]) > 1e-6*found[i].price
		}
		x.lp.columns = append(x.lp.columns, found...)
		switch {
		case gains:
			smooth = smoothing
		case smooth == 0:
			return
		default:
			smooth = 0 // what was found says nothing of the worths of the linear program: they are tried themselves
		}
	}
}

// value is what the linear program costs, in micro-dollars.
func (x *patterns) value() float64 {
	tolls, _ := x.tolls.whole()
	return x.lp.value()/(1<<moneyBits) - float64(tolls)
}

// try proves a bound by worths made small enough, and returns patterns that are worth more than they cost, and whether the bound is better.
func (x *patterns) try(worth []float64) (found []column, better bool) {
	x.full.worth = make([]int64, len(worth))
	for c, w := range worth {
		x.full.worth[c] = int64(max(w, 0))
	}
	num, den := int64(1), int64(1) // by which the worths have to be multiplied
	for h := range x.m.hosts {
		price := x.full.price(int32(h))
		most := x.full.most(int32(h))
		if most <= price {
			continue
		}
		if less(price, most, num, den) {
			num, den = price, most
		}
		if x.full.value > price {
			found = append(found, column{int32(h), float64(price), x.full.load()})
		}
	}
	slices.SortStableFunc(found, func(a, b column) int {
		switch ga, gb := x.relative(&a), x.relative(&b); {
		case ga > gb:
			return -1
		case ga < gb:
			return 1
		}
		return 0
	})
	found = found[:min(len(found), newPatterns)]
	var sum money
	proven := make([]int64, len(worth))
	for c, w := range x.full.worth {
		hi, lo := bits.Mul64(uint64(w), uint64(num))
		part, _ := bits.Div64(hi, lo, uint64(den))
		proven[c] = int64(part)
		sum.add(int64(x.count[c]), proven[c])
	}
	bound := sum.micros(x.tolls)
	if bound <= x.bound {
		return found, false
	}
	x.bound, x.proven = bound, proven
	for c, w := range proven {
		worth[c] = float64(w)
	}
	return found, true
}

// relative is how much more a pattern is worth than it costs, for its price.
func (x *patterns) relative(k *column) float64 {
	sum := 0.0
	for _, it := range k.items {
		sum += float64(float64(x.full.worth[it.class]) * float64(it.n))
	}
	return sum / k.price
}

// less reports whether a/b is less than c/d, all above 0.
func less(a, b, c, d int64) bool {
	ahi, alo := bits.Mul64(uint64(a), uint64(d))
	chi, clo := bits.Mul64(uint64(c), uint64(b))
	return ahi < chi || ahi == chi && alo < clo
}
