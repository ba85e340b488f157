package solve

import "slices"

// seed reads a known solution. It returns nil if that breaks a rule, or leaves something out although budgets do not force it to.
func (m *model) seed(a Answer) *solution {
	s := m.read(a)
	if s == nil {
		return nil
	}
	for _, n := range s.left {
		if n > 0 && !m.rationed {
			return nil
		}
	}
	return s
}

// read reads a solution. It returns nil if that breaks a rule.
func (m *model) read(a Answer) *solution {
	s := &solution{left: make([]int, len(m.classes))}
	for c := range s.left {
		s.left[c] = m.classes[c].count
	}
	budgets := slices.Clone(m.budgets)
	for _, n := range a.Nodes {
		out, ok := m.readNode(n)
		if !ok || overdrawn(m.hosts[out.host].draws, budgets, int64(out.times)) {
			return nil
		}
		m.refund(&out, budgets, -1)
		for _, it := range out.items {
			if s.left[it.class] -= it.count * out.times; s.left[it.class] < 0 {
				return nil
			}
		}
		s.nodes = append(s.nodes, out)
	}
	return s
}

// readNode reads one node and reports whether it keeps all rules.
func (m *model) readNode(n Node) (node, bool) {
	if n.Times < 1 || n.Host < 0 || n.Host >= len(m.standIn) || m.standIn[n.Host] < 0 {
		return node{}, false
	}
	out := node{host: m.standIn[n.Host], times: n.Times}
	free := slices.Clone(m.hosts[out.host].room)
	var f occupancy
	f.reset(m)
	seen := make(map[int32]bool)
	for _, it := range n.Items {
		if it.Item < 0 || it.Item >= len(m.classOf) || m.classOf[it.Item] < 0 || it.Count < 1 {
			return node{}, false
		}
		c := m.classOf[it.Item]
		class := &m.classes[c]
		if seen[c] || !class.takers.Has(int(out.host)) || it.Count > class.cap ||
			f.allowed(m, c, it.Count) < it.Count || times(class.need, free, it.Count) < it.Count {
			return node{}, false
		}
		seen[c] = true
		f.put(m, c, it.Count)
		for d, need := range class.need {
			free[d] -= need * int64(it.Count)
		}
		out.items = append(out.items, portion{c, it.Count})
	}
	return out, len(out.items) > 0
}

// drawn returns what is left of the budgets after a solution.
func (m *model) drawn(s *solution) []int64 {
	budgets := append([]int64{}, m.budgets...)
	for i := range s.nodes {
		m.refund(&s.nodes[i], budgets, -1)
	}
	return budgets
}
