// Package pattern counts in whole items: a linear program of patterns, a pattern being what one host holds.
//
// It is column generation: the master program (master.go) says what items are worth, and a knapsack for each host (knapsack.go) finds the
// pattern that is worth most at that. It gives a bound that is tighter than that of the relaxation, and hosts for the search to start from. It
// is for few classes. The programs are in floats, the bound is proven in integers.
package pattern

import (
	"math/bits"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/proof"
	"github.com/tenon-sh/tenon/engine/solve/relax"
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

// CloseEnough is how close to the relaxation a plan is close enough to be improved no more, and how close to a plan a bound is.
const CloseEnough = 1.005

// Program looks for worths in whole items.
type Program struct {
	knapsack *knapsack
	model    *model.Model
	count    []int // of each class
	single   []column
	master   *master
	bound    int64
	proven   []int64 // the worths behind the bound
	budgets  proof.Sum128
	limit    int // of the counted work
}

// Incumbent is what is known of ways to place the items.
type Incumbent struct {
	Goal  int64        // what they can be placed for, to which the bound need not come closer than closeEnough; 0: that is not known
	Nodes []model.Node // that were filled with some of them
}

// Bound improves on a bound, which what items are worth proves, by what is known of whole items.
func Bound(f *relax.Relaxation, placed []int, bound int64, worth []int64, known Incumbent) int64 {
	if known.Goal > 0 && float64(bound)*CloseEnough >= float64(known.Goal) {
		return bound
	}
	x := &Program{knapsack: unconflicted(f), model: f.Model, count: placed, bound: bound, proven: worth, limit: patternSteps}
	if !x.suits() || !x.singles() {
		return bound
	}
	x.begin(known.Nodes)
	x.search(known.Goal)
	f.Steps += x.Steps()
	return x.bound
}

// Solve solves the linear program of patterns at the prices of a relaxation, from patterns that are known; nil if that cannot be done.
func Solve(f *relax.Relaxation, counts []int, known []model.Node, limit int) *Program {
	if len(f.Model.Classes) > maxPatternClasses {
		return nil
	}
	f = f.Clone()
	bound, worth := proof.Bound(f, counts)
	x := &Program{knapsack: newKnapsack(f), model: f.Model, count: counts, bound: bound, proven: worth, limit: limit}
	if !x.suits() || !x.singles() {
		return nil
	}
	x.begin(known)
	x.search(0)
	return x
}

// Steps is the counted work.
func (x *Program) Steps() int { return x.knapsack.steps + x.master.steps }

// Open opens as many hosts of each pattern as the linear program says, rounded down, and takes what they hold from what is left.
func (x *Program) Open(rem []int, budgets []int64) []model.Node {
	var out []model.Node
	for r, at := range x.master.basis {
		for n := int(x.master.amount[r] + 1e-6); n > 0; n-- {
			one, ok := x.openOne(&x.master.columns[at], rem, budgets)
			if !ok {
				break
			}
			out = append(out, one)
		}
	}
	return out
}

// openOne opens a host of a pattern for what is left of its items; false if there is nothing of them, or budgets do not allow it.
func (x *Program) openOne(col *column, rem []int, budgets []int64) (model.Node, bool) {
	one := model.Node{Host: col.host, Times: 1}
	for _, it := range col.items {
		if n := min(it.Count, rem[it.Class]); n > 0 {
			one.Items = append(one.Items, model.Portion{Class: it.Class, Count: n})
		}
	}
	if col.host < 0 || len(one.Items) == 0 || model.Overdrawn(x.model.Hosts[col.host].Draws, budgets, 1) {
		return one, false
	}
	for _, it := range one.Items {
		rem[it.Class] -= it.Count
	}
	x.model.Refund(&one, budgets, -1)
	return one, true
}

// begin sets up the linear program with patterns that are known.
func (x *Program) begin(known []model.Node) {
	demand := make([]float64, len(x.count))
	for c, n := range x.count {
		demand[c] = float64(n)
	}
	x.master = newMaster(demand, x.single)
	for _, n := range known {
		x.master.columns = append(x.master.columns, column{n.Host, float64(x.knapsack.price(n.Host)), n.Items})
	}
	x.budgets = x.knapsack.proof.Budgets()
}

// suits reports whether the problem is one that this can be done for.
func (x *Program) suits() bool {
	if len(x.model.Classes) > maxPatternClasses || len(x.model.Classes) == 0 {
		return false
	}
	return !slices.ContainsFunc(x.model.Hosts, func(h model.Host) bool { return h.Price > proof.MaxWholePrice })
}

// singles finds for each class the host on which it is cheapest alone.
func (x *Program) singles() bool {
	x.single = make([]column, len(x.model.Classes))
	for c := range x.model.Classes {
		k := &x.model.Classes[c]
		best := &x.single[c]
		k.Takers.Each(func(h int) {
			n := model.Times(k.Need, x.model.Hosts[h].Room, max(min(k.Cap, k.Count), 1))
			price := float64(x.knapsack.price(int32(h)))
			if n > 0 && (best.items == nil || price/float64(n) < best.price/float64(best.items[0].Count)) {
				*best = column{int32(h), price, []model.Portion{{Class: int32(c), Count: n}}}
			}
		})
		if best.items == nil {
			return false
		}
	}
	return true
}

// search looks for patterns until the proof is close to the linear program, or that does not get further.
func (x *Program) search(goal int64) {
	smooth := smoothing
	stable := make([]float64, len(x.count)) // the worths of the best proof
	for c, w := range x.proven {
		stable[c] = float64(w)
	}
	tried := make([]float64, len(x.count))
	for range patternRounds {
		x.master.solve(4 * len(x.count))
		for c, w := range x.master.dual {
			tried[c] = float64(smooth*stable[c]) + float64((1-smooth)*w)
		}
		found, better := x.try(tried)
		if better {
			copy(stable, tried)
		}
		if goal > 0 && float64(x.bound)*CloseEnough >= float64(goal) || float64(x.bound)*patternsClose >= x.value() || x.Steps() > x.limit {
			return
		}
		gains := false
		for i := range found {
			gains = gains || x.master.gain(&found[i]) > 1e-6*found[i].price
		}
		x.master.columns = append(x.master.columns, found...)
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
func (x *Program) value() float64 {
	budgetPrices, _ := x.budgets.Whole()
	return x.master.value()/(1<<proof.MoneyBits) - float64(budgetPrices)
}

// try proves a bound by worths made small enough, and returns patterns that are worth more than they cost, and whether the bound is better.
func (x *Program) try(worth []float64) (found []column, better bool) {
	x.knapsack.worth = make([]int64, len(worth))
	for c, w := range worth {
		x.knapsack.worth[c] = int64(max(w, 0))
	}
	num, den := int64(1), int64(1) // by which the worths have to be multiplied
	for h := range x.model.Hosts {
		price := x.knapsack.price(int32(h))
		most := x.knapsack.most(int32(h))
		if most <= price {
			continue
		}
		if less(price, most, num, den) {
			num, den = price, most
		}
		if x.knapsack.value > price {
			found = append(found, column{int32(h), float64(price), x.knapsack.load()})
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
	var sum proof.Sum128
	proven := make([]int64, len(worth))
	for c, w := range x.knapsack.worth {
		hi, lo := bits.Mul64(uint64(w), uint64(num))
		part, _ := bits.Div64(hi, lo, uint64(den))
		proven[c] = int64(part)
		sum.Add(int64(x.count[c]), proven[c])
	}
	bound := sum.Micros(x.budgets)
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
func (x *Program) relative(k *column) float64 {
	sum := 0.0
	for _, it := range k.items {
		sum += float64(float64(x.knapsack.worth[it.Class]) * float64(it.Count))
	}
	return sum / k.price
}

// less reports whether a/b is less than c/d, all above 0.
func less(a, b, c, d int64) bool {
	ahi, alo := bits.Mul64(uint64(a), uint64(d))
	chi, clo := bits.Mul64(uint64(c), uint64(b))
	return ahi < chi || ahi == chi && alo < clo
}
