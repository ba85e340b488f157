package model

// Downsize gives a node the cheapest host that takes what is on it.
func (m *Model) Downsize(n *Node, budgets []int64) {
	used := make([]int64, m.Dims)
	for _, it := range n.Items {
		for d, need := range m.Classes[it.Class].Need {
			used[d] += need * int64(it.Count)
		}
	}
	for h := range m.Hosts {
		if int32(h) == n.Host || m.Hosts[h].Price >= m.Hosts[n.Host].Price {
			return
		}
		if !Fits(used, m.Hosts[h].Room) || !m.TakesAll(int32(h), n.Items) {
			continue
		}
		if m.rationed {
			m.Refund(n, budgets, 1)
			if Overdrawn(m.Hosts[h].Draws, budgets, int64(n.Times)) {
				m.Refund(n, budgets, -1)
				continue
			}
			n.Host = int32(h)
			m.Refund(n, budgets, -1)
			return
		}
		n.Host = int32(h)
		return
	}
}

// Refund gives back sign times what the node draws.
func (m *Model) Refund(n *Node, budgets []int64, sign int64) {
	for _, d := range m.Hosts[n.Host].Draws {
		budgets[d.Budget] += sign * d.Amount * int64(n.Times)
	}
}

// TakesAll reports whether the host takes items of each of these classes, whatever room it has.
func (m *Model) TakesAll(h int32, items []Portion) bool {
	for _, it := range items {
		if !m.Classes[it.Class].Takers.Has(int(h)) {
			return false
		}
	}
	return true
}
