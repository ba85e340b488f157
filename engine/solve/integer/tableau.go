package integer

import "math"

// tableau is a small linear program: so many hosts of each kind, within the bounds of a branch, that meet all demands at least cost.
// It is solved by the dual simplex method: hosts are as few as can be at first, which costs least and meets no demand. All of it is in
// floats: what it finds is proven elsewhere.
type tableau struct {
	kinds int
	rows  [][]float64 // for each row what changes it, in the order of other
	right []float64
	cost  []float64 // of what stands for no row
	basic []int     // what stands for each row: a kind, or what there is more than a demand
	other []int     // what stands for none
	high  []bool    // of these, whether they are as many as can be
	value []float64 // of what stands for each row
	least []float64 // of everything, by number
	most  []float64
	scale []float64 // of each demand
	steps int
}

const (
	mostPivots = 200
	slight     = 1e-9
)

// solve returns a price for each demand, and hosts that meet them; if none do, by the prices they cost more than the goal.
func (t *tableau) solve(x *program, b *branch, goal float64) (prices, hosts []float64) {
	t.begin(x, b)
	t.steps += 500
	row, at := -1, -1
	for range mostPivots {
		t.steps += len(t.rows)*t.kinds/2 + 50
		t.read()
		if row = t.lacking(); row < 0 {
			break
		}
		if at = t.enter(row); at < 0 {
			break
		}
		t.pivot(row, at)
	}
	prices = t.prices()
	if row >= 0 && at < 0 {
		t.raiseAlongRay(prices, row, goal)
	}
	hosts = make([]float64, t.kinds)
	for j, v := range t.other {
		if v < t.kinds {
			hosts[v] = t.at(j)
		}
	}
	for i, v := range t.basic {
		if v < t.kinds {
			hosts[v] = t.value[i]
		}
	}
	return prices, hosts
}

// begin sets up the program of a branch.
func (t *tableau) begin(x *program, b *branch) {
	t.kinds = len(x.price)
	rows := len(x.demands) + 2
	for len(t.rows) < rows {
		t.rows = append(t.rows, make([]float64, t.kinds))
		t.right, t.value, t.scale, t.basic = append(t.right, 0), append(t.value, 0), append(t.scale, 0), append(t.basic, 0)
	}
	all := t.kinds + rows
	t.cost, t.other, t.high = resize(t.cost, t.kinds), resize(t.other, t.kinds), resize(t.high, t.kinds)
	t.least, t.most = resize(t.least, all), resize(t.most, all)
	for n, price := range x.price {
		t.cost[n], t.other[n], t.high[n] = float64(price), n, false
		t.least[n], t.most[n] = float64(b.low[n]), float64(b.high[n])
	}
	for k := range rows {
		t.scale[k] = 1
		for n := range t.kinds {
			t.scale[k] = max(t.scale[k], math.Abs(float64(x.give(k, n))))
		}
		for n := range t.kinds {
			t.rows[k][n] = -float64(x.give(k, n)) / t.scale[k]
		}
		t.right[k] = -float64(x.need(b, k)) / t.scale[k]
		t.basic[k] = t.kinds + k
		t.least[t.kinds+k], t.most[t.kinds+k] = 0, math.Inf(1)
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// at is how many there are of what stands for no row.
func (t *tableau) at(j int) float64 {
	if t.high[j] {
		return t.most[t.other[j]]
	}
	return t.least[t.other[j]]
}

// read finds how many there are of what stands for the rows.
func (t *tableau) read() {
	copy(t.value, t.right)
	for j := range t.other {
		n := t.at(j)
		if n == 0 {
			continue
		}
		for i := range t.rows {
			t.value[i] -= float64(t.rows[i][j] * n)
		}
	}
}

// lacking is the row that is furthest outside its bounds; below 0 if none is.
func (t *tableau) lacking() int {
	row, most := -1, 1e-7
	for i, v := range t.basic {
		if off := max(t.least[v]-t.value[i], t.value[i]-t.most[v]); off > most {
			row, most = i, off
		}
	}
	return row
}

// short reports whether there is too little of what stands for a row, rather than too much.
func (t *tableau) short(row int) bool { return t.value[row] < t.least[t.basic[row]] }

// enter finds what is to stand for a row instead: what costs least for what it changes; below 0 if nothing helps.
func (t *tableau) enter(row int) int {
	at, least := -1, 0.0
	short := t.short(row)
	for j, by := range t.rows[row] {
		if t.high[j] != short {
			by = -by // what counts is how fast the row gets better
		}
		if by <= slight || t.least[t.other[j]] == t.most[t.other[j]] {
			continue
		}
		if each := math.Abs(t.cost[j]) / by; at < 0 || each < least {
			at, least = j, each
		}
	}
	return at
}

// pivot has what stands for a row and what does not change places.
func (t *tableau) pivot(row, at int) {
	short := t.short(row)
	own := t.rows[row]
	p := own[at]
	for j := range own {
		own[j] /= p
	}
	own[at] = 1 / p
	t.right[row] /= p
	for i, other := range t.rows {
		f := other[at]
		if i == row || f == 0 {
			continue
		}
		for j, by := range own {
			other[j] -= float64(f * by)
		}
		other[at] = -f / p
		t.right[i] -= float64(f * t.right[row])
	}
	c := t.cost[at]
	for j, by := range own {
		t.cost[j] -= float64(c * by)
	}
	t.cost[at] = -c / p
	t.basic[row], t.other[at] = t.other[at], t.basic[row]
	t.high[at] = !short
}

// prices are what the demands cost.
func (t *tableau) prices() []float64 {
	out := make([]float64, len(t.basic))
	for j, v := range t.other {
		if v >= t.kinds {
			out[v-t.kinds] = max(t.cost[j], 0) / t.scale[v-t.kinds]
		}
	}
	return out
}

// raiseAlongRay raises the prices along a row that nothing helps, until all of the branch costs more than so much.
func (t *tableau) raiseAlongRay(prices []float64, row int, goal float64) {
	v := t.basic[row]
	by := goal / max(t.least[v]-t.value[row], t.value[row]-t.most[v])
	if v >= t.kinds {
		prices[v-t.kinds] += by / t.scale[v-t.kinds]
	}
	if !t.short(row) {
		by = -by
	}
	for j, o := range t.other {
		if o >= t.kinds {
			prices[o-t.kinds] = max(prices[o-t.kinds]+float64(by*t.rows[row][j])/t.scale[o-t.kinds], 0)
		}
	}
}

// program is what hosts cost, and what is demanded of them.
type program struct {
	price   []int64 // of each kind, with the charge
	demands []demand
}

// demand says that so much is needed of what each host of a kind gives.
type demand struct {
	give []int64
	need int64
}

// branch is a part of all ways to open hosts: so many of each kind, and so many in all.
type branch struct {
	low, high   []int32
	least, most int32 // in all
	bound       int64 // proven: none of them costs less
	known       int   // how many demands were known then
	hosts       []float64
}

// give is what a host of a kind gives to a demand; the last two demands are of the number of hosts.
func (x *program) give(k, n int) int64 {
	switch k - len(x.demands) {
	case 0:
		return 1
	case 1:
		return -1
	}
	return x.demands[k].give[n]
}

// need is what a demand needs in a branch.
func (x *program) need(b *branch, k int) int64 {
	switch k - len(x.demands) {
	case 0:
		return int64(b.least)
	case 1:
		return -int64(b.most)
	}
	return x.demands[k].need
}
