package firstfit

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/model"
)

// TopUp places what a solution left over wherever it still can go.
func TopUp(m *model.Model, s *model.Solution) {
	budgets := m.Drawn(s)
	for _, classes := range m.Ranks() {
		for _, c := range classes {
			IntoRoom(m, s, c)
			for s.Left[c] > 0 && openFor(m, s, c, budgets) {
			}
		}
	}
}

// IntoRoom places what is left of a class on hosts that are open.
func IntoRoom(m *model.Model, s *model.Solution, c int32) {
	if s.Left[c] == 0 {
		return
	}
	class := &m.Classes[c]
	var f model.Occupancy
	f.Reset(m)
	f.Put(m, c, 0)
	for i := 0; i < len(s.Nodes) && s.Left[c] > 0; i++ {
		n := &s.Nodes[i]
		if !class.Takers.Has(int(n.Host)) {
			continue
		}
		free := freeRoom(m, n)
		if !model.Fits(class.Need, free) {
			continue
		}
		at := slices.IndexFunc(n.Items, func(it model.Portion) bool { return it.Class == c })
		limit := min(class.Cap, s.Left[c])
		if at >= 0 {
			limit = min(limit, class.Cap-n.Items[at].Count)
		}
		z := model.Times(class.Need, free, f.Besides(m, c, limit, n.Items))
		if z == 0 {
			continue
		}
		if full := s.Left[c] / z; full < n.Times {
			rest := *n
			rest.Times -= full
			n.Times = full
			s.Nodes = append(s.Nodes, rest)
			n = &s.Nodes[i]
		}
		n.Items = slices.Clone(n.Items) // patterns may share them
		if at >= 0 {
			n.Items[at].Count += z
		} else {
			n.Items = append(n.Items, model.Portion{Class: c, Count: z})
		}
		s.Left[c] -= z * n.Times
	}
}

// freeRoom is what a node has left.
func freeRoom(m *model.Model, n *model.Node) []int64 {
	free := slices.Clone(m.Hosts[n.Host].Room)
	for _, it := range n.Items {
		for d, need := range m.Classes[it.Class].Need {
			free[d] -= need * int64(it.Count)
		}
	}
	return free
}

// openFor opens the host that takes most of a class for the least part of what budgets have left.
func openFor(m *model.Model, s *model.Solution, c int32, budgets []int64) bool {
	class := &m.Classes[c]
	best, top, fill := int32(-1), 0.0, 0
	class.Takers.Each(func(h int) {
		if model.Overdrawn(m.Hosts[h].Draws, budgets, 1) {
			return
		}
		n := model.Times(class.Need, m.Hosts[h].Room, min(class.Cap, s.Left[c]))
		part := float64(m.Hosts[h].Price+m.Charge) * 1e-15
		for _, d := range m.Hosts[h].Draws {
			part = max(part, float64(d.Amount)/float64(budgets[d.Budget]))
		}
		if score := float64(n) / max(part, 1e-15); best < 0 || score > top {
			best, top, fill = int32(h), score, n
		}
	})
	if best < 0 {
		return false
	}
	n := model.Node{Host: best, Times: model.Affordable(m.Hosts[best].Draws, budgets, s.Left[c]/fill), Items: []model.Portion{{Class: c, Count: fill}}}
	m.Refund(&n, budgets, -1)
	s.Left[c] -= fill * n.Times
	s.Nodes = append(s.Nodes, n)
	return true
}
