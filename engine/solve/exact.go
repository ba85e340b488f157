package solve

// maxStates and maxSplits bound the exact search: about a dozen different items, or more when some are alike.
const (
	maxStates = 20_000
	maxSplits = 1_000_000
)

// partition knows of each part of the items, a number in a mixed radix with one digit a class, the cheapest host that holds it whole.
type partition struct {
	model  *model
	splits int // ways to take a load out of a part
	steps  int
	stride []int
	host   []int32
}

// newPartition returns the parts of all items and their hosts, or nil when the problem is not tiny.
func newPartition(m *model) *partition {
	states, splits := 1, 1
	for c := range m.classes {
		n := m.classes[c].count
		if n > maxStates || states*(n+1) > maxStates || splits*((n+1)*(n+2)/2) > maxSplits {
			return nil
		}
		states *= n + 1
		splits *= (n + 1) * (n + 2) / 2
	}
	x := &partition{model: m, splits: splits, host: make([]int32, states), stride: make([]int, len(m.classes))}
	stride := 1
	for c := range m.classes {
		x.stride[c] = stride
		stride *= m.classes[c].count + 1
	}
	counts := make([]int, len(m.classes))
	for s := 1; s < states; s++ {
		x.counts(s, counts)
		x.host[s] = m.cheapest(counts)
	}
	return x
}

// solve places all items, budgets aside, with the charge for each host.
func (x *partition) solve(charge int64) *solution {
	l := x.layer()
	x.fill(l, charge, l.goal)
	return x.trace(func(int) layer { return l })
}

// within places all items, budgets aside, for at most the price most, where least is the least price of all. It tries one
// host, then two and so on, until the charge for another is more than a lower price could save.
func (x *partition) within(least, most int64) *solution {
	all := len(x.host) - 1
	none := x.layer()
	for s := 1; s <= all; s++ {
		none.goal[s] = huge
	}
	layers := []layer{none}
	best, goal := 0, int64(huge)
	for n := 1; n <= x.model.itemCount() && least+x.model.charge*int64(n) < goal; n++ {
		l := x.layer()
		l.goal[0] = huge
		x.fill(l, 0, layers[n-1].goal)
		layers = append(layers, l)
		if price := l.goal[all]; price <= max(most, least) && (best == 0 || price+x.model.charge*int64(n) < goal) {
			best, goal = n, price+x.model.charge*int64(n)
		}
	}
	return x.trace(func(n int) layer { return layers[best-n] })
}

// layer is, for each part, the least goal of placing it, and the first of the hosts' loads that does so.
type layer struct {
	goal  []int64
	first []int
}

func (x *partition) layer() layer {
	return layer{make([]int64, len(x.host)), make([]int, len(x.host))}
}

// fill finds for every part the cheapest way to take a load out of it, when what remains costs so much.
func (x *partition) fill(l layer, charge int64, rest []int64) {
	x.steps += x.splits
	counts := make([]int, len(x.model.classes))
	for s := 1; s < len(x.host); s++ {
		x.counts(s, counts)
		l.goal[s] = huge
		x.best(l, s, counts, charge, rest)
	}
}

// trace reads a solution from layers: the one to look at after so many hosts.
func (x *partition) trace(at func(n int) layer) *solution {
	counts := make([]int, len(x.model.classes))
	out := &solution{left: make([]int, len(counts))}
	for s := len(x.host) - 1; s > 0; {
		load := at(len(out.nodes)).first[s]
		x.counts(load, counts)
		n := node{host: x.host[load], times: 1}
		for c, k := range counts {
			if k > 0 {
				n.items = append(n.items, portion{int32(c), k})
			}
		}
		out.nodes = append(out.nodes, n)
		s -= load
	}
	return out
}

func (x *partition) counts(s int, out []int) {
	for c := range out {
		radix := x.model.classes[c].count + 1
		out[c] = s % radix
		s /= radix
	}
}

// best finds the cheapest way to place the part s: some host takes a load with at least one of the last class in s, the rest is known.
func (x *partition) best(l layer, s int, counts []int, charge int64, rest []int64) {
	last := len(counts) - 1
	for counts[last] == 0 {
		last--
	}
	var walk func(c, load int)
	walk = func(c, load int) {
		if c < 0 {
			if h := x.host[load]; h >= 0 {
				if goal := x.model.hosts[h].price + charge + rest[s-load]; goal < l.goal[s] {
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
func (m *model) cheapest(counts []int) int32 {
	used := make([]int64, m.dims)
	var f occupancy
	f.reset(m)
	for c, n := range counts {
		if n == 0 {
			continue
		}
		if n > m.classes[c].cap || f.allowed(m, int32(c), n) < n {
			return -1
		}
		f.put(m, int32(c), n)
		for d, need := range m.classes[c].need {
			used[d] += need * int64(n)
		}
	}
next:
	for h := range m.hosts {
		if !fits(used, m.hosts[h].room) {
			continue
		}
		for c, n := range counts {
			if n > 0 && !m.classes[c].takers.Has(h) {
				continue next
			}
		}
		return int32(h)
	}
	return -1
}
