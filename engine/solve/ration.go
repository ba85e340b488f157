package solve

import (
	"cmp"
	"slices"
)

// When budgets do not suffice for everything, ranks are served in order: each rank gets free room first and new hosts then,
// before the next one is looked at.

// ranks returns the classes rank by rank.
func (m *model) ranks() [][]int32 {
	all := allClasses(m)
	slices.SortStableFunc(all, func(a, b int32) int { return cmp.Compare(m.classes[a].rank, m.classes[b].rank) })
	var out [][]int32
	for i, c := range all {
		if i == 0 || m.classes[c].rank != m.classes[all[i-1]].rank {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}

func allClasses(m *model) []int32 {
	all := make([]int32, len(m.classes))
	for c := range all {
		all[c] = int32(c)
	}
	return all
}

// ration places rank after rank. Alike says that every item counts the same, whatever it would cost.
func (k *packer) ration(f *fluid, alike bool) *solution {
	m := k.m
	s := &solution{left: make([]int, len(m.classes))}
	for c := range s.left {
		s.left[c] = m.classes[c].count
	}
	budgets := append([]int64{}, m.budgets...)
	for _, classes := range m.ranks() {
		for _, c := range classes {
			m.intoRoom(s, c)
		}
		clear(k.rem)
		for _, c := range classes {
			k.rem[c] = s.left[c]
		}
		p := f.prices(1e9)
		if alike {
			for c := range p.value {
				p.value[c] = 1
			}
		}
		s.nodes = append(s.nodes, k.greedy(p, style{pull: 1}, classes, budgets)...)
		for _, c := range classes {
			s.left[c] = k.rem[c]
		}
	}
	return s
}

// topUp places what a solution left over wherever it still can go.
func (m *model) topUp(s *solution) {
	budgets := m.drawn(s)
	for _, classes := range m.ranks() {
		for _, c := range classes {
			m.intoRoom(s, c)
			for s.left[c] > 0 && m.openFor(s, c, budgets) {
			}
		}
	}
}

// intoRoom places what is left of a class on hosts that are open.
func (m *model) intoRoom(s *solution, c int32) {
	if s.left[c] == 0 {
		return
	}
	class := &m.classes[c]
	var f floor
	f.init(m)
	f.put(m, c, 0)
	for i := 0; i < len(s.nodes) && s.left[c] > 0; i++ {
		n := &s.nodes[i]
		if !class.takers.Has(int(n.host)) {
			continue
		}
		free := m.freeRoom(n)
		if !fits(class.need, free) {
			continue
		}
		at := slices.IndexFunc(n.items, func(it share) bool { return it.class == c })
		limit := min(class.cap, s.left[c])
		if at >= 0 {
			limit = min(limit, class.cap-n.items[at].n)
		}
		z := times(class.need, free, f.besides(m, c, limit, n.items))
		if z == 0 {
			continue
		}
		if full := s.left[c] / z; full < n.times {
			rest := *n
			rest.times -= full
			n.times = full
			s.nodes = append(s.nodes, rest)
			n = &s.nodes[i]
		}
		n.items = slices.Clone(n.items) // patterns may share them
		if at >= 0 {
			n.items[at].n += z
		} else {
			n.items = append(n.items, share{c, z})
		}
		s.left[c] -= z * n.times
	}
}

func (m *model) freeRoom(n *node) []int64 {
	free := slices.Clone(m.hosts[n.host].room)
	for _, it := range n.items {
		for d, need := range m.classes[it.class].need {
			free[d] -= need * int64(it.n)
		}
	}
	return free
}

// openFor opens the host that takes most of a class for the least part of what budgets have left.
func (m *model) openFor(s *solution, c int32, budgets []int64) bool {
	class := &m.classes[c]
	best, top, fill := int32(-1), 0.0, 0
	class.takers.each(func(h int) {
		if overdrawn(m.hosts[h].draws, budgets, 1) {
			return
		}
		n := times(class.need, m.hosts[h].room, min(class.cap, s.left[c]))
		part := float64(m.hosts[h].price+m.charge) * 1e-15
		for _, d := range m.hosts[h].draws {
			part = max(part, float64(d.Amount)/float64(budgets[d.Budget]))
		}
		if score := float64(n) / max(part, 1e-15); best < 0 || score > top {
			best, top, fill = int32(h), score, n
		}
	})
	if best < 0 {
		return false
	}
	n := node{host: best, times: affordable(m.hosts[best].draws, budgets, s.left[c]/fill), items: []share{{c, fill}}}
	m.refund(&n, budgets, -1)
	s.left[c] -= fill * n.times
	s.nodes = append(s.nodes, n)
	return true
}
