package exact

import "github.com/tenon-sh/tenon/engine/solve/model"

// maxCover bounds the work of one cover.
const maxCover = 4_000_000

// Cover finds the least goal of placing n of one class alone, and how many each host holds then. Its loads are nil when that is too much work.
func Cover(m *model.Model, c int32, n int, charge int64) (goal int64, loads []int32) {
	class := &m.Classes[c]
	holds := make([]int, len(m.Hosts))
	var useful []int32
	class.Takers.Each(func(h int) {
		holds[h] = model.Times(class.Need, m.Hosts[h].Room, min(class.Cap, n))
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
		best[k] = model.Huge
		for _, h := range useful {
			if goal := best[max(k-holds[h], 0)] + m.Hosts[h].Price + charge; goal < best[k] {
				best[k], by[k] = goal, h
			}
		}
	}
	for k := n; k > 0; k -= holds[by[k]] {
		loads = append(loads, by[k])
	}
	return best[n], loads
}

// OneClass solves a problem of one class, budgets aside.
func OneClass(m *model.Model) *model.Solution {
	if len(m.Classes) != 1 {
		return nil
	}
	class := &m.Classes[0]
	_, hosts := Cover(m, 0, class.Count, m.Charge)
	s := &model.Solution{Left: make([]int, 1)}
	rest := class.Count
	for _, h := range hosts {
		n := model.Times(class.Need, m.Hosts[h].Room, min(class.Cap, rest))
		last := len(s.Nodes) - 1
		if last >= 0 && s.Nodes[last].Host == h && s.Nodes[last].Items[0].Count == n {
			s.Nodes[last].Times++
		} else {
			s.Nodes = append(s.Nodes, model.Node{Host: h, Times: 1, Items: []model.Portion{{Class: 0, Count: n}}})
		}
		if rest -= n; rest == 0 {
			return s
		}
	}
	return nil
}
