package solve

import "slices"

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
	var f occupancy
	f.reset(m)
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
		at := slices.IndexFunc(n.items, func(it portion) bool { return it.class == c })
		limit := min(class.cap, s.left[c])
		if at >= 0 {
			limit = min(limit, class.cap-n.items[at].count)
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
			n.items[at].count += z
		} else {
			n.items = append(n.items, portion{c, z})
		}
		s.left[c] -= z * n.times
	}
}

// freeRoom is what a node has left.
func (m *model) freeRoom(n *node) []int64 {
	free := slices.Clone(m.hosts[n.host].room)
	for _, it := range n.items {
		for d, need := range m.classes[it.class].need {
			free[d] -= need * int64(it.count)
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
	n := node{host: best, times: affordable(m.hosts[best].draws, budgets, s.left[c]/fill), items: []portion{{c, fill}}}
	m.refund(&n, budgets, -1)
	s.left[c] -= fill * n.times
	s.nodes = append(s.nodes, n)
	return true
}
