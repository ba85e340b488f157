package solve

// maxStates and maxSplits bound the exact search: about a dozen different items, or more when some are alike.
const (
	maxStates = 20_000
	maxSplits = 1_000_000
)

// exact finds the best solution of a tiny problem, budgets aside: for every part of the items the cheapest host that holds it,
// then the cheapest way to take the whole apart. It returns nil when the problem is not tiny.
func (m *model) exact(charge int64, steps *int) *solution {
	states, splits := 1, 1
	for c := range m.classes {
		n := m.classes[c].count
		if n > maxStates || states*(n+1) > maxStates || splits*((n+1)*(n+2)/2) > maxSplits {
			return nil
		}
		states *= n + 1
		splits *= (n + 1) * (n + 2) / 2
	}
	*steps += splits
	x := &parts{m: m, host: make([]int32, states), goal: make([]int64, states), first: make([]int, states), stride: make([]int, len(m.classes))}
	stride := 1
	for c := range m.classes {
		x.stride[c] = stride
		stride *= m.classes[c].count + 1
	}
	counts := make([]int, len(m.classes))
	for s := 1; s < states; s++ {
		x.counts(s, counts)
		x.host[s] = m.cheapest(counts)
		x.goal[s] = huge
		x.best(s, counts, charge)
	}
	out := &solution{left: make([]int, len(m.classes))}
	for s := states - 1; s > 0; s -= x.first[s] {
		x.counts(x.first[s], counts)
		n := node{host: x.host[x.first[s]], times: 1}
		for c, k := range counts {
			if k > 0 {
				n.items = append(n.items, share{int32(c), k})
			}
		}
		out.nodes = append(out.nodes, n)
	}
	return out
}

// parts knows of each part of the items, a number in a mixed radix with one digit a class, the cheapest host that holds it whole,
// the least goal of placing it and the first of the hosts' loads that does so.
type parts struct {
	m      *model
	stride []int
	host   []int32
	goal   []int64
	first  []int
}

func (x *parts) counts(s int, out []int) {
	for c := range out {
		radix := x.m.classes[c].count + 1
		out[c] = s % radix
		s /= radix
	}
}

// best finds the cheapest way to place the part s: some host takes a load with at least one of the last class in s, the rest is known.
func (x *parts) best(s int, counts []int, charge int64) {
	last := len(counts) - 1
	for counts[last] == 0 {
		last--
	}
	var walk func(c, load int)
	walk = func(c, load int) {
		if c < 0 {
			if h := x.host[load]; h >= 0 {
				if goal := x.m.hosts[h].price + charge + x.goal[s-load]; goal < x.goal[s] {
					x.goal[s], x.first[s] = goal, load
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
	var f floor
	f.init(m)
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
