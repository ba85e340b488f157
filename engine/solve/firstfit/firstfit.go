// Package firstfit places items without looking for a good way: what a scheduler without an optimiser does.
//
// Its plan is the one that an answer is never dearer than, and by the same means the search puts what it left over wherever that still can go.
package firstfit

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/model"
)

// open is a node whose host is not chosen yet: any of its candidates could hold what is on it.
type open struct {
	times      int
	candidates []int32 // cheapest first
	used       []int64
	most       []int64 // the largest room of any candidate, for a quick no
	items      []model.Portion
	groups     []tally
}

// tally is how many items of a group there are.
type tally struct {
	group int32
	n     int
}

// Place places the classes, large ones first, each on the first open nodes that some host could still serve,
// and at the end chooses the cheapest host for each. It is what schedulers without an optimiser do.
func Place(m *model.Model) *model.Solution {
	s := &model.Solution{Left: make([]int, len(m.Classes))}
	var nodes []*open
	var f model.Occupancy
	f.Reset(m)
	for c := range m.Classes {
		rest := m.Classes[c].Count
		f.Put(m, int32(c), 0)
		for k := 0; k < len(nodes) && rest > 0; k++ {
			o := nodes[k]
			z := addable(m, o, int32(c), min(rest, m.Classes[c].Cap), &f)
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
			add(m, o, int32(c), z)
			rest -= z * o.times
		}
		for rest > 0 {
			o := newOpen(m, int32(c))
			z := addable(m, o, int32(c), min(rest, m.Classes[c].Cap), &f)
			o.times = rest / z
			add(m, o, int32(c), z)
			rest -= z * o.times
			nodes = append(nodes, o)
		}
		f.Take(m, int32(c), 0)
	}
	left := slices.Clone(m.Budgets)
	for _, o := range nodes {
		choose(m, o, s, left)
	}
	return s
}

func (o *open) clone() *open {
	return &open{times: o.times, candidates: o.candidates, used: slices.Clone(o.used), most: o.most, items: slices.Clone(o.items), groups: slices.Clone(o.groups)}
}

// newOpen returns an empty node that any host which can hold the class could serve.
func newOpen(m *model.Model, c int32) *open {
	o := &open{used: make([]int64, m.Dims)}
	m.Classes[c].Takers.Each(func(h int) { o.candidates = append(o.candidates, int32(h)) })
	o.most = m.MostRoom(o.candidates)
	return o
}

// addable returns how many items of the class, at most limit, some candidate could still take. The occupancy counts none of them, but the class.
func addable(m *model.Model, o *open, c int32, limit int, f *model.Occupancy) int {
	k := &m.Classes[c]
	for d, n := range k.Need {
		if o.used[d]+n > o.most[d] {
			return 0
		}
	}
	if f.Refused(m, c, o.items) {
		return 0
	}
	for _, r := range k.Groups {
		limit = min(limit, m.Groups[r].Limit-o.in(r))
	}
	if limit <= 0 {
		return 0
	}
	best := 0
	for _, h := range o.candidates {
		if !k.Takers.Has(int(h)) {
			continue
		}
		n := limit
		for d, need := range k.Need {
			free := m.Hosts[h].Room[d] - o.used[d]
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
func add(m *model.Model, o *open, c int32, n int) {
	k := &m.Classes[c]
	for d, need := range k.Need {
		o.used[d] += need * int64(n)
	}
	o.items = append(o.items, model.Portion{Class: c, Count: n})
	for _, r := range k.Groups {
		at := slices.IndexFunc(o.groups, func(t tally) bool { return t.group == r })
		if at < 0 {
			at = len(o.groups)
			o.groups = append(o.groups, tally{r, 0})
		}
		o.groups[at].n += n
	}
	var kept []int32
	for _, h := range o.candidates {
		if k.Takers.Has(int(h)) && model.Fits(o.used, m.Hosts[h].Room) {
			kept = append(kept, h)
		}
	}
	if len(kept) != len(o.candidates) {
		o.candidates = kept
		o.most = m.MostRoom(kept)
	}
}

// choose gives the node the cheapest hosts that budgets allow; what finds none is left over.
func choose(m *model.Model, o *open, s *model.Solution, left []int64) {
	rest := o.times
	for _, h := range o.candidates {
		n := model.Affordable(m.Hosts[h].Draws, left, rest)
		if n == 0 {
			continue
		}
		for _, d := range m.Hosts[h].Draws {
			left[d.Budget] -= d.Amount * int64(n)
		}
		s.Nodes = append(s.Nodes, model.Node{Host: h, Times: n, Items: o.items})
		if rest -= n; rest == 0 {
			return
		}
	}
	for _, it := range o.items {
		s.Left[it.Class] += it.Count * rest
	}
}
