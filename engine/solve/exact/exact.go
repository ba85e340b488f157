// Package exact finds the best solutions of problems that are small enough to look at all of them.
//
// One class alone is placed by counting up (cover.go), a dozen items by taking the whole apart in every way (exact.go). Neither looks at
// budgets: who calls asks whether they allow what was found. That nothing is better is relied on by bounds.
package exact

import "github.com/tenon-sh/tenon/engine/solve/model"

// maxStates and maxSplits bound the exact search: about a dozen different items, or more when some are alike.
const (
	maxStates = 20_000
	maxSplits = 1_000_000
)

// Partition knows of each part of the items, a number in a mixed radix with one digit a class, the cheapest host that holds it whole.
type Partition struct {
	model  *model.Model
	splits int // ways to take a load out of a part
	Steps  int // the counted work
	stride []int
	host   []int32
}

// New returns the parts of all items and their hosts, or nil when the problem is not tiny.
func New(m *model.Model) *Partition {
	states, splits := 1, 1
	for c := range m.Classes {
		n := m.Classes[c].Count
		if n > maxStates || states*(n+1) > maxStates || splits*((n+1)*(n+2)/2) > maxSplits {
			return nil
		}
		states *= n + 1
		splits *= (n + 1) * (n + 2) / 2
	}
	x := &Partition{model: m, splits: splits, host: make([]int32, states), stride: make([]int, len(m.Classes))}
	stride := 1
	for c := range m.Classes {
		x.stride[c] = stride
		stride *= m.Classes[c].Count + 1
	}
	counts := make([]int, len(m.Classes))
	for s := 1; s < states; s++ {
		x.counts(s, counts)
		x.host[s] = cheapest(m, counts)
	}
	return x
}

// Solve places all items, budgets aside, with the charge for each host.
func (x *Partition) Solve(charge int64) *model.Solution {
	l := x.layer()
	x.fill(l, charge, l.goal)
	return x.trace(func(int) layer { return l })
}

// Within places all items, budgets aside, for at most the price most, where least is the least price of all. It tries one
// host, then two and so on, until the charge for another is more than a lower price could save.
func (x *Partition) Within(least, most int64) *model.Solution {
	all := len(x.host) - 1
	none := x.layer()
	for s := 1; s <= all; s++ {
		none.goal[s] = model.Huge
	}
	layers := []layer{none}
	best, goal := 0, int64(model.Huge)
	for n := 1; n <= x.model.ItemCount() && least+x.model.Charge*int64(n) < goal; n++ {
		l := x.layer()
		l.goal[0] = model.Huge
		x.fill(l, 0, layers[n-1].goal)
		layers = append(layers, l)
		if price := l.goal[all]; price <= max(most, least) && (best == 0 || price+x.model.Charge*int64(n) < goal) {
			best, goal = n, price+x.model.Charge*int64(n)
		}
	}
	return x.trace(func(n int) layer { return layers[best-n] })
}

// layer is, for each part, the least goal of placing it, and the first of the hosts' loads that does so.
type layer struct {
	goal  []int64
	first []int
}

func (x *Partition) layer() layer {
	return layer{make([]int64, len(x.host)), make([]int, len(x.host))}
}

// fill finds for every part the cheapest way to take a load out of it, when what remains costs so much.
func (x *Partition) fill(l layer, charge int64, rest []int64) {
	x.Steps += x.splits
	counts := make([]int, len(x.model.Classes))
	for s := 1; s < len(x.host); s++ {
		x.counts(s, counts)
		l.goal[s] = model.Huge
		x.best(l, s, counts, charge, rest)
	}
}

// trace reads a solution from layers: the one to look at after so many hosts.
func (x *Partition) trace(at func(n int) layer) *model.Solution {
	counts := make([]int, len(x.model.Classes))
	out := &model.Solution{Left: make([]int, len(counts))}
	for s := len(x.host) - 1; s > 0; {
		load := at(len(out.Nodes)).first[s]
		x.counts(load, counts)
		n := model.Node{Host: x.host[load], Times: 1}
		for c, k := range counts {
			if k > 0 {
				n.Items = append(n.Items, model.Portion{Class: int32(c), Count: k})
			}
		}
		out.Nodes = append(out.Nodes, n)
		s -= load
	}
	return out
}

func (x *Partition) counts(s int, out []int) {
	for c := range out {
		radix := x.model.Classes[c].Count + 1
		out[c] = s % radix
		s /= radix
	}
}

// best finds the cheapest way to place the part s: some host takes a load with at least one of the last class in s, the rest is known.
func (x *Partition) best(l layer, s int, counts []int, charge int64, rest []int64) {
	last := len(counts) - 1
	for counts[last] == 0 {
		last--
	}
	var walk func(c, load int)
	walk = func(c, load int) {
		if c < 0 {
			if h := x.host[load]; h >= 0 {
				if goal := x.model.Hosts[h].Price + charge + rest[s-load]; goal < l.goal[s] {
					l.goal[s], l.first[s] = goal, load
				}
			}
			return
		}
		least := 0
		if c == last {
			least = 1
		}
		for n := counts[c]; n >= least; n-- {
			walk(c-1, load+n*x.stride[c])
		}
	}
	walk(last, 0)
}

// cheapest returns the cheapest host that holds so many of each class together, or -1.
func cheapest(m *model.Model, counts []int) int32 {
	used := make([]int64, m.Dims)
	var f model.Occupancy
	f.Reset(m)
	for c, n := range counts {
		if n == 0 {
			continue
		}
		if n > m.Classes[c].Cap || f.Allowed(m, int32(c), n) < n {
			return -1
		}
		f.Put(m, int32(c), n)
		for d, need := range m.Classes[c].Need {
			used[d] += need * int64(n)
		}
	}
next:
	for h := range m.Hosts {
		if !model.Fits(used, m.Hosts[h].Room) {
			continue
		}
		for c, n := range counts {
			if n > 0 && !m.Classes[c].Takers.Has(h) {
				continue next
			}
		}
		return int32(h)
	}
	return -1
}
