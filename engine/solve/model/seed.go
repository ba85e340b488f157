package model

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Seed reads a known solution. It returns nil if that breaks a rule, or leaves something out although budgets do not force it to.
func (m *Model) Seed(a problem.Answer) *Solution {
	s := m.Read(a)
	if s == nil {
		return nil
	}
	for _, n := range s.Left {
		if n > 0 && !m.rationed {
			return nil
		}
	}
	return s
}

// Read reads a solution. It returns nil if that breaks a rule.
func (m *Model) Read(a problem.Answer) *Solution {
	s := &Solution{Left: make([]int, len(m.Classes))}
	for c := range s.Left {
		s.Left[c] = m.Classes[c].Count
	}
	budgets := slices.Clone(m.Budgets)
	for _, n := range a.Nodes {
		out, ok := m.ReadNode(n)
		if !ok || Overdrawn(m.Hosts[out.Host].Draws, budgets, int64(out.Times)) {
			return nil
		}
		m.Refund(&out, budgets, -1)
		for _, it := range out.Items {
			if s.Left[it.Class] -= it.Count * out.Times; s.Left[it.Class] < 0 {
				return nil
			}
		}
		s.Nodes = append(s.Nodes, out)
	}
	return s
}

// ReadNode reads one node and reports whether it keeps all rules.
func (m *Model) ReadNode(n problem.Node) (Node, bool) {
	if n.Times < 1 || n.Host < 0 || n.Host >= len(m.standIn) || m.standIn[n.Host] < 0 {
		return Node{}, false
	}
	out := Node{Host: m.standIn[n.Host], Times: n.Times}
	free := slices.Clone(m.Hosts[out.Host].Room)
	var f Occupancy
	f.Reset(m)
	seen := make(map[int32]bool)
	for _, it := range n.Items {
		if it.Item < 0 || it.Item >= len(m.ClassOf) || m.ClassOf[it.Item] < 0 || it.Count < 1 {
			return Node{}, false
		}
		c := m.ClassOf[it.Item]
		class := &m.Classes[c]
		if seen[c] || !class.Takers.Has(int(out.Host)) || it.Count > class.Cap ||
			f.Allowed(m, c, it.Count) < it.Count || Times(class.Need, free, it.Count) < it.Count {
			return Node{}, false
		}
		seen[c] = true
		f.Put(m, c, it.Count)
		for d, need := range class.Need {
			free[d] -= need * int64(it.Count)
		}
		out.Items = append(out.Items, Portion{c, it.Count})
	}
	return out, len(out.Items) > 0
}

// Drawn returns what is left of the budgets after a solution.
func (m *Model) Drawn(s *Solution) []int64 {
	budgets := append([]int64{}, m.Budgets...)
	for i := range s.Nodes {
		m.Refund(&s.Nodes[i], budgets, -1)
	}
	return budgets
}
