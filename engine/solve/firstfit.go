package solve

import "slices"

// open is a node whose host is not chosen yet: any of its candidates could hold what is on it.
type open struct {
	times      int
	candidates []int32 // cheapest first
	used       []int64
	most       []int64 // the largest room of any candidate, for a quick no
	items      []portion
	groups     []tally
}

// tally is how many items of a group there are.
type tally struct {
	group int32
	n     int
}

// firstFit places the classes, large ones first, each on the first open nodes that some host could still serve,
// and at the end chooses the cheapest host for each. It is what schedulers without an optimiser do.
func (m *model) firstFit() *solution {
	s := &solution{left: make([]int, len(m.classes))}
	var nodes []*open
	var f occupancy
	f.reset(m)
	for c := range m.classes {
		rest := m.classes[c].count
		f.put(m, int32(c), 0)
		for k := 0; k < len(nodes) && rest > 0; k++ {
			o := nodes[k]
			z := m.addable(o, int32(c), min(rest, m.classes[c].cap), &f)
			if z == 0 {
				continue
			}
			if all := rest / z; all < o.times {
				if all == 0 {
					all = 1
				}
				part := o.clone()
				part.times, o.times = o.times-all, all
				nodes = slices.Insert(nodes, k+1, part)
			}
			m.add(o, int32(c), z)
			rest -= z * o.times
		}
		for rest > 0 {
			o := m.newOpen(int32(c))
			z := m.addable(o, int32(c), min(rest, m.classes[c].cap), &f)
			o.times = rest / z
			m.add(o, int32(c), z)
			rest -= z * o.times
			nodes = append(nodes, o)
		}
		f.take(m, int32(c), 0)
	}
	left := slices.Clone(m.budgets)
	for _, o := range nodes {
		m.close(o, s, left)
	}
	return s
}

func (o *open) clone() *open {
	return &open{times: o.times, candidates: o.candidates, used: slices.Clone(o.used), most: o.most, items: slices.Clone(o.items), groups: slices.Clone(o.groups)}
}

// newOpen returns an empty node that any host which can hold the class could serve.
func (m *model) newOpen(c int32) *open {
	o := &open{used: make([]int64, m.dims)}
	m.classes[c].takers.each(func(h int) { o.candidates = append(o.candidates, int32(h)) })
	o.most = m.mostRoom(o.candidates)
	return o
}

// addable returns how many items of the class, at most limit, some candidate could still take. The occupancy counts none of them, but the class.
func (m *model) addable(o *open, c int32, limit int, f *occupancy) int {
	k := &m.classes[c]
	for d, n := range k.need {
		if o.used[d]+n > o.most[d] {
			return 0
		}
	}
	if f.refused(m, c, o.items) {
		return 0
	}
	for _, r := range k.groups {
		limit = min(limit, m.groups[r].limit-o.in(r))
	}
	if limit <= 0 {
		return 0
	}
	best := 0
	for _, h := range o.candidates {
		if !k.takers.Has(int(h)) {
			continue
		}
		n := limit
		for d, need := range k.need {
			free := m.hosts[h].room[d] - o.used[d]
			if need > free {
				n = 0
				break
			}
			if need > 0 && int64(n)*need > free {
				n = int(free / need)
			}
		}
		if n > best {
			best = n
			if best == limit {
				break
			}
		}
	}
	return best
}

// in returns how many items of the group are on the node.
func (o *open) in(r int32) int {
	for _, t := range o.groups {
		if t.group == r {
			return t.n
		}
	}
	return 0
}

// add puts n items of the class on the node and drops the candidates that cannot hold it any more.
func (m *model) add(o *open, c int32, n int) {
	k := &m.classes[c]
	for d, need := range k.need {
		o.used[d] += need * int64(n)
	}
	o.items = append(o.items, portion{c, n})
	for _, r := range k.groups {
		at := slices.IndexFunc(o.groups, func(t tally) bool { return t.group == r })
		if at < 0 {
			at = len(o.groups)
			o.groups = append(o.groups, tally{r, 0})
		}
		o.groups[at].n += n
	}
	var kept []int32
	for _, h := range o.candidates {
		if k.takers.Has(int(h)) && fits(o.used, m.hosts[h].room) {
			kept = append(kept, h)
		}
	}
	if len(kept) != len(o.candidates) {
		o.candidates = kept
		o.most = m.mostRoom(kept)
	}
}

// close gives the node the cheapest hosts that budgets allow; what finds none is left over.
func (m *model) close(o *open, s *solution, left []int64) {
	rest := o.times
	for _, h := range o.candidates {
		n := affordable(m.hosts[h].draws, left, rest)
		if n == 0 {
			continue
		}
		for _, d := range m.hosts[h].draws {
			left[d.Budget] -= d.Amount * int64(n)
		}
		s.nodes = append(s.nodes, node{host: h, times: n, items: o.items})
		if rest -= n; rest == 0 {
			return
		}
	}
	for _, it := range o.items {
		s.left[it.class] += it.count * rest
	}
}
