package solve

// downsize gives a node the cheapest host that takes what is on it.
func (m *model) downsize(n *node, budgets []int64) {
	used := make([]int64, m.dims)
	for _, it := range n.items {
		for d, need := range m.classes[it.class].need {
			used[d] += need * int64(it.count)
		}
	}
	for h := range m.hosts {
		if int32(h) == n.host || m.hosts[h].price >= m.hosts[n.host].price {
			return
		}
		if !fits(used, m.hosts[h].room) || !m.takesAll(int32(h), n.items) {
			continue
		}
		if m.rationed {
			m.refund(n, budgets, 1)
			if overdrawn(m.hosts[h].draws, budgets, int64(n.times)) {
				m.refund(n, budgets, -1)
				continue
			}
			n.host = int32(h)
			m.refund(n, budgets, -1)
			return
		}
		n.host = int32(h)
		return
	}
}

// refund gives back sign times what the node draws.
func (m *model) refund(n *node, budgets []int64, sign int64) {
	for _, d := range m.hosts[n.host].draws {
		budgets[d.Budget] += sign * d.Amount * int64(n.times)
	}
}

func (m *model) takesAll(h int32, items []portion) bool {
	for _, it := range items {
		if !m.classes[it.class].takers.Has(int(h)) {
			return false
		}
	}
	return true
}
