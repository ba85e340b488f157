package problems

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Optimum is the least cost, with the charge, of placing every item that some host can take, at a price of at most so much:
// item by item, on each open node and on a new one.
func Optimum(p problem.Problem, most int64) int64 {
	var queue []int
	for i, it := range p.Items {
		for range it.Count {
			if cheapestFor(p, []int{i}) >= 0 {
				queue = append(queue, i)
			}
		}
	}
	best := int64(1) << 60
	var nodes [][]int
	var place func(k int, cost int64)
	place = func(k int, cost int64) {
		if cost > most || cost+p.Charge*int64(len(nodes)) >= best {
			return
		}
		if k == len(queue) {
			best = cost + p.Charge*int64(len(nodes))
			return
		}
		for n := range nodes {
			old := nodes[n]
			nodes[n] = append(slices.Clone(old), queue[k])
			if price := cheapestFor(p, nodes[n]); price >= 0 {
				place(k+1, cost-cheapestFor(p, old)+price)
			}
			nodes[n] = old
		}
		nodes = append(nodes, []int{queue[k]})
		place(k+1, cost+cheapestFor(p, nodes[len(nodes)-1]))
		nodes = nodes[:len(nodes)-1]
	}
	place(0, 0)
	return best
}

// cheapestFor is the least price of a host that takes the items together, or -1.
func cheapestFor(p problem.Problem, items []int) int64 {
	var node problem.Node
	for _, i := range items {
		at := slices.IndexFunc(node.Items, func(it problem.Portion) bool { return it.Item == i })
		if at < 0 {
			node.Items = append(node.Items, problem.Portion{Item: i, Count: 1})
		} else {
			node.Items[at].Count++
		}
	}
	best := int64(-1)
	for h := range p.Hosts {
		node.Host = h
		if (best < 0 || p.Hosts[h].Price < best) && len(checkNode(p, node)) == 0 {
			best = p.Hosts[h].Price
		}
	}
	return best
}
