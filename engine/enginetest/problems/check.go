package problems

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Check returns everything that is wrong with an answer; it shares no code with the search.
func Check(p problem.Problem, a problem.Answer) []string {
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	placed := make([]int, len(p.Items))
	budgets := slices.Clone(p.Budgets)
	cost := int64(0)
	for k, n := range a.Nodes {
		if n.Times < 1 || n.Host < 0 || n.Host >= len(p.Hosts) || len(n.Items) == 0 {
			bad("node %d is malformed: %+v", k, n)
			continue
		}
		for _, w := range checkNode(p, n) {
			bad("node %d: %s", k, w)
		}
		for _, it := range n.Items {
			placed[it.Item] += it.Count * n.Times
		}
		cost += p.Hosts[n.Host].Price * int64(n.Times)
		for _, d := range p.Hosts[n.Host].Draws {
			budgets[d.Budget] -= d.Amount * int64(n.Times)
		}
	}
	for b, left := range budgets {
		if left < 0 {
			bad("budget %d is overdrawn by %d", b, -left)
		}
	}
	for _, l := range a.Left {
		if l.Count < 1 {
			bad("left over: %+v", l)
		}
		placed[l.Item] += l.Count
		if why := placeable(p, a, l.Item, budgets); why != "" {
			bad("item %d is left over but %s", l.Item, why)
		}
	}
	for i, n := range placed {
		if n != max(p.Items[i].Count, 0) {
			bad("item %d: %d of %d accounted for", i, n, p.Items[i].Count)
		}
	}
	if cost != a.Cost {
		bad("cost is %d, said to be %d", cost, a.Cost)
	}
	if a.Bound > a.Cost {
		bad("bound %d above cost %d", a.Bound, a.Cost)
	}
	return wrong
}

// checkNode returns what is wrong with one node taken alone.
func checkNode(p problem.Problem, n problem.Node) []string {
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	h := p.Hosts[n.Host]
	used := map[int]int64{}
	on := map[int]int{}
	for _, it := range n.Items {
		item := p.Items[it.Item]
		if it.Count < 1 || on[it.Item] > 0 {
			bad("portion %+v", it)
		}
		on[it.Item] += it.Count
		if !item.Hosts.Has(n.Host) {
			bad("item %d may not go to host %d", it.Item, n.Host)
		}
		if item.PerHost > 0 && it.Count > item.PerHost {
			bad("%d of item %d, cap %d", it.Count, it.Item, item.PerHost)
		}
		for d, need := range item.Need {
			used[d] += need * int64(it.Count)
		}
	}
	for d, u := range used {
		if u > 0 && (d >= len(h.Room) || u > h.Room[d]) {
			bad("dimension %d holds %d of %v", d, u, h.Room)
		}
	}
	for g, group := range p.Groups {
		sum := 0
		for _, i := range group.Members {
			sum += on[i]
		}
		if sum > group.Cap {
			bad("group %d has %d, cap %d", g, sum, group.Cap)
		}
	}
	for i := range on {
		for _, j := range p.Items[i].Conflicts {
			if i != j && on[j] > 0 || i == j && on[i] > 1 {
				bad("items %d and %d share a host", i, j)
			}
		}
	}
	return wrong
}

// placeable says where one more of the item could go, or nothing.
func placeable(p problem.Problem, a problem.Answer, item int, budgets []int64) string {
	for h := range p.Hosts {
		alone := problem.Node{Host: h, Times: 1, Items: []problem.Portion{{Item: item, Count: 1}}}
		if len(checkNode(p, alone)) > 0 {
			continue
		}
		affordable := true
		for _, d := range p.Hosts[h].Draws {
			affordable = affordable && d.Amount <= budgets[d.Budget]
		}
		if affordable {
			return fmt.Sprintf("host %d could be opened for it", h)
		}
	}
	for k, n := range a.Nodes {
		more := problem.Node{Host: n.Host, Times: 1, Items: slices.Clone(n.Items)}
		at := slices.IndexFunc(more.Items, func(it problem.Portion) bool { return it.Item == item })
		if at >= 0 {
			more.Items[at].Count++
		} else {
			more.Items = append(more.Items, problem.Portion{Item: item, Count: 1})
		}
		if len(checkNode(p, more)) == 0 {
			return fmt.Sprintf("node %d has room for it", k)
		}
	}
	return ""
}
