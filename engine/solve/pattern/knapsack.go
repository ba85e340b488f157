package pattern

import (
	"math/bits"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/proof"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// knapsack finds the load of one host that is worth most, when one item of each class has a given worth, or how much no load
// is worth. It goes through the classes, those first that are worth most for what they take, and for each through how many
// of it there are; what the rest could add at most is known from the prices per unit of the relaxation, at which no load costs
// more than its host.
type knapsack struct {
	model      *model.Model
	relaxation *relax.Relaxation
	proof      *proof.Proof
	worth      []int64 // of one item of each class, in fractions of a micro-dollar
	occupancy  model.Occupancy

	host       int32
	classes    []choice // that the host takes and that are worth something, in order of density
	free       []int64
	count      []int // of each candidate
	above      int64 // no load is looked for that is worth no more
	best       []int // the counts of the best load above that
	value      int64 // what that is worth
	unexplored int64 // what loads could be worth that were not looked at
	budget     int   // steps that may still be taken for this host
	steps      int
}

// choice is a class that may be on the host.
type choice struct {
	class       int32
	most        int   // of it alone
	weight      int64 // of one item at the relaxation's prices
	worth       int64
	load        int64 // the weight of the most of it
	value       int64 // what that is worth
	need        []int64
	constrained bool
}

// stepsPerHost bounds how many loads of one host are looked at.
const stepsPerHost = 3_000

// newKnapsack looks for loads at the prices of a relaxation.
func newKnapsack(f *relax.Relaxation) *knapsack { return knapsackOf(f, f.Model) }

// unconflicted looks for loads in which conflicts do not count: items are kept apart also where that is only the simplest way to
// keep a rule, so that a bound must not build on it.
func unconflicted(f *relax.Relaxation) *knapsack {
	m := *f.Model
	m.Conflicts, m.Classes = false, slices.Clone(m.Classes)
	for c := range m.Classes {
		m.Classes[c].Conflicts = nil
	}
	return knapsackOf(f, &m)
}

func knapsackOf(f *relax.Relaxation, m *model.Model) *knapsack {
	x := &knapsack{model: m, relaxation: f, proof: proof.New(f), free: make([]int64, m.Dims)}
	x.occupancy.Reset(m)
	return x
}

// price is what a host costs with what its draws on budgets are worth, in fractions of a micro-dollar.
func (x *knapsack) price(h int32) int64 { return x.proof.Price(&x.model.Hosts[h]) }

// most returns what a load of the host is worth at most. If that may be more than its price, the best load that was
// found is in best, its value in value.
func (x *knapsack) most(h int32) int64 {
	price := x.price(h)
	x.host, x.above, x.value, x.unexplored, x.budget = h, price, 0, 0, stepsPerHost
	x.gather()
	if x.rest(0, price) <= price {
		return price
	}
	copy(x.free, x.model.Hosts[h].Room)
	x.count = slices.Grow(x.count[:0], len(x.classes))[:len(x.classes)]
	clear(x.count)
	x.budget--
	x.explore(0, 0, price)
	x.steps += stepsPerHost - x.budget
	return max(price, x.value, x.unexplored)
}

// gather finds the candidates of the host.
func (x *knapsack) gather() {
	x.classes = x.classes[:0]
	m, n := x.model, x.relaxation.Kinds.Of[x.host]
	row := x.proof.Unit(n)
	for c := range m.Classes {
		k := &m.Classes[c]
		if x.worth[c] <= 0 || !k.Takers.Has(int(x.host)) {
			continue
		}
		it := choice{class: int32(c), worth: x.worth[c], most: model.Times(k.Need, m.Hosts[x.host].Room, min(k.Cap, k.Count)), need: k.Need, constrained: k.Constrained}
		if it.most == 0 {
			continue
		}
		for d, need := range k.Need {
			it.weight += x.proof.Need(d, need) * row[d]
		}
		for _, l := range x.relaxation.CapsOf[c] {
			it.weight += row[m.Dims+int(l)]
		}
		it.load, it.value = model.Product(it.weight, it.most), int64(it.most)*it.worth
		x.classes = append(x.classes, it)
	}
	x.steps += len(m.Classes)
	slices.SortFunc(x.classes, denser)
}

// denser puts first what is worth more for its weight.
func denser(a, b choice) int {
	ahi, alo := bits.Mul64(uint64(a.worth), uint64(b.weight))
	bhi, blo := bits.Mul64(uint64(b.worth), uint64(a.weight))
	switch {
	case ahi != bhi && ahi > bhi, ahi == bhi && alo > blo:
		return -1
	case ahi == bhi && alo == blo:
		return int(a.class - b.class)
	}
	return 1
}

// rest is what the candidates from the i-th on can add at most within so much weight.
func (x *knapsack) rest(i int, weight int64) int64 {
	sum := int64(0)
	for ; i < len(x.classes); i++ {
		c := &x.classes[i]
		if c.load > weight && c.weight > 0 {
			hi, lo := bits.Mul64(uint64(weight), uint64(c.worth))
			if hi >= uint64(c.weight) {
				return model.Huge
			}
			part, _ := bits.Div64(hi, lo, uint64(c.weight))
			return sum + int64(min(part, model.Huge))
		}
		sum, weight = sum+c.value, weight-c.load
	}
	return sum
}

// explore looks at all loads that hold of the first i candidates what is counted, which is worth value and leaves so much weight.
//
// What loads could be worth at most gets less with each item less of the i-th candidate, which is worth more for its weight
// than those after it: where that is too little, or there are no steps left to look, so it is for all that hold less of it.
func (x *knapsack) explore(i int, value, weight int64) {
	c := &x.classes[i]
	most := model.Times(c.need, x.free, c.most)
	if most > 0 && c.constrained {
		most = x.occupancy.Allowed(x.model, c.class, most)
	}
	for n := most; n >= 0; n-- {
		value, weight := value+int64(n)*c.worth, weight-int64(n)*c.weight
		x.budget--
		if value > max(x.above, x.value) {
			x.hold(i, n)
			x.value, x.best = value, append(x.best[:0], x.count...)
		}
		top := value
		if i+1 < len(x.classes) {
			top += x.rest(i+1, weight)
		}
		if top <= max(x.above, x.value) {
			x.budget -= n
			break
		}
		if x.budget <= 0 {
			x.unexplored = max(x.unexplored, top)
			x.budget -= n
			break
		}
		x.hold(i, n)
		x.explore(i+1, value, weight)
	}
	x.hold(i, 0)
}

// hold has the load hold n of a candidate.
func (x *knapsack) hold(i, n int) {
	c, before := &x.classes[i], x.count[i]
	if n == before {
		return
	}
	x.count[i] = n
	for d, need := range c.need {
		x.free[d] -= need * int64(n-before)
	}
	switch {
	case !c.constrained:
	case before == 0:
		x.occupancy.Put(x.model, c.class, n)
	case n == 0:
		x.occupancy.Take(x.model, c.class, before)
	default:
		x.occupancy.Add(x.model, c.class, n-before)
	}
}

// load is the best load that was found.
func (x *knapsack) load() []model.Portion {
	var out []model.Portion
	for i, n := range x.best {
		if n > 0 {
			out = append(out, model.Portion{Class: x.classes[i].class, Count: n})
		}
	}
	slices.SortFunc(out, func(a, b model.Portion) int { return int(a.Class - b.Class) })
	return out
}
