package pattern

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/model"
)

// master is the linear program of patterns: how many hosts of each pattern, also parts of one, hold all items at least cost.
// It is solved by the simplex method with the inverse of its basis, one row a class. All of it is in floats: what it says
// items are worth is a guess, which is proven elsewhere.
type master struct {
	demand  []float64 // how many items of each class there are
	columns []column
	basis   []int // the column of each row
	inverse [][]float64
	amount  []float64 // of each column of the basis
	dual    []float64 // what one item of each class is worth
	steps   int
}

// column is a pattern: a host and what it holds, or the surplus of one class, which costs nothing.
type column struct {
	host  int32 // -1 is a surplus
	price float64
	items []model.Portion // of a surplus one, less than nothing
}

// newMaster begins with a column for each class in which it is alone; single[c] holds nothing but c.
func newMaster(demand []float64, single []column) *master {
	n := len(demand)
	l := &master{demand: demand, columns: slices.Clone(single), basis: make([]int, n), inverse: make([][]float64, n), amount: make([]float64, n), dual: make([]float64, n)}
	for c := range n {
		each := float64(single[c].items[0].Count)
		l.basis[c] = c
		l.inverse[c] = make([]float64, n)
		l.inverse[c][c] = 1 / each
		l.amount[c] = demand[c] / each
	}
	for c := range n {
		l.columns = append(l.columns, column{host: -1, items: []model.Portion{{Class: int32(c), Count: -1}}})
	}
	l.price()
	return l
}

// price finds what one item of each class is worth: the prices of the basis times its inverse.
func (l *master) price() {
	clear(l.dual)
	for r, at := range l.basis {
		price := l.columns[at].price
		if price == 0 {
			continue
		}
		for c, x := range l.inverse[r] {
			l.dual[c] += float64(price * x)
		}
	}
	l.steps += len(l.basis) * len(l.basis) / 8
}

// gain is by how much the items of a column are worth more than it costs.
func (l *master) gain(k *column) float64 {
	sum := -k.price
	for _, it := range k.items {
		sum += float64(l.dual[it.Class] * float64(it.Count))
	}
	return sum
}

// solve pivots until no column is worth more than it costs, at most so often.
func (l *master) solve(pivots int) {
	direction := make([]float64, len(l.basis))
	for range pivots {
		enter, most := -1, 0.0
		for i := range l.columns {
			if g := l.gain(&l.columns[i]); g > most+float64(1e-7*(1+l.columns[i].price)) {
				enter, most = i, g
			}
		}
		l.steps += len(l.columns)
		if enter < 0 || !l.pivot(enter, direction) {
			return
		}
		l.price()
	}
}

// pivot brings a column into the basis; false if that is not possible.
func (l *master) pivot(enter int, direction []float64) bool {
	clear(direction)
	for r := range direction {
		for _, it := range l.columns[enter].items {
			direction[r] += float64(l.inverse[r][it.Class] * float64(it.Count))
		}
	}
	leave, least := -1, 0.0
	for r, d := range direction {
		if d <= 1e-9 {
			continue
		}
		if ratio := l.amount[r] / d; leave < 0 || ratio < least {
			leave, least = r, ratio
		}
	}
	if leave < 0 {
		return false
	}
	row := l.inverse[leave]
	d := direction[leave]
	for c := range row {
		row[c] /= d
	}
	l.amount[leave] = max(least, 0)
	for r, x := range direction {
		if r == leave || x == 0 {
			continue
		}
		for c, v := range row {
			l.inverse[r][c] -= float64(x * v)
		}
		l.amount[r] = max(l.amount[r]-float64(x*least), 0)
	}
	l.basis[leave] = enter
	l.steps += len(l.basis) * len(l.basis) / 8
	return true
}

// value is what the basis costs.
func (l *master) value() float64 {
	sum := 0.0
	for r, at := range l.basis {
		sum += float64(l.columns[at].price * l.amount[r])
	}
	return sum
}
