package solve

// maxCover bounds the work of one cover.
const maxCover = 4_000_000

// cover finds the least goal of placing n of one class alone, and how many each host holds then. Its loads are nil when that is too much work.
func (m *model) cover(c int32, n int, charge int64) (goal int64, loads []int32) {
	class := &m.classes[c]
	holds := make([]int, len(m.hosts))
	var useful []int32
	class.takers.each(func(h int) {
		holds[h] = times(class.need, m.hosts[h].room, min(class.cap, n))
		for _, o := range useful { // cheaper ones come first
			if holds[o] >= holds[h] {
				return
			}
		}
		useful = append(useful, int32(h))
	})
	if n*len(useful) > maxCover {
		return 0, nil
	}
	best := make([]int64, n+1)
	by := make([]int32, n+1)
	for k := 1; k <= n; k++ {
		best[k] = huge
		for _, h := range useful {
			if goal := best[max(k-holds[h], 0)] + m.hosts[h].price + charge; goal < best[k] {
				best[k], by[k] = goal, h
			}
		}
	}
	for k := n; k > 0; k -= holds[by[k]] {
		loads = append(loads, by[k])
	}
	return best[n], loads
}

// onlyClass solves a problem of one class, budgets aside.
func (m *model) onlyClass() *solution {
	if len(m.classes) != 1 {
		return nil
	}
	class := &m.classes[0]
	_, hosts := m.cover(0, class.count, m.charge)
	s := &solution{left: make([]int, 1)}
	rest := class.count
	for _, h := range hosts {
		n := times(class.need, m.hosts[h].room, min(class.cap, rest))
		last := len(s.nodes) - 1
		if last >= 0 && s.nodes[last].host == h && s.nodes[last].items[0].count == n {
			s.nodes[last].times++
		} else {
			s.nodes = append(s.nodes, node{host: h, times: 1, items: []portion{{0, n}}})
		}
		if rest -= n; rest == 0 {
			return s
		}
	}
	return nil
}
