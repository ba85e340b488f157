package solve

import (
	"cmp"
	"slices"
)

// solution is a way to place the classes of a model.
type solution struct {
	nodes []node
	left  []int // for each class how many found no place
}

// node is times equal hosts and what each of them holds.
type node struct {
	host  int32
	times int
	items []portion // sorted by class
}

// portion is n items of a class.
type portion struct {
	class int32
	count int
}

// smallItemCount is a number of items for which few hosts are opened. These have to suit the items in size, so that hosts come into
// question that are dearer for it.
const smallItemCount = 100

// itemCount is how many there are to place.
func (m *model) itemCount() int {
	sum := 0
	for c := range m.classes {
		sum += m.classes[c].count
	}
	return sum
}

// cost is the price of all nodes.
func (m *model) cost(s *solution) int64 {
	sum := int64(0)
	for _, n := range s.nodes {
		sum += m.hosts[n.host].price * int64(n.times)
	}
	return sum
}

// goal is what the search makes small: the price of all nodes and the charge for each.
func (m *model) goal(s *solution) int64 {
	sum := m.cost(s)
	for _, n := range s.nodes {
		sum += m.charge * int64(n.times)
	}
	return sum
}

// compareLeft compares what two solutions leave out, lower ranks first: negative when a leaves out less.
func (m *model) compareLeft(a, b *solution) int {
	if !m.rationed {
		return 0
	}
	byRank := make(map[int]int)
	var ranks []int
	for c := range m.classes {
		r := m.classes[c].rank
		if _, known := byRank[r]; !known {
			ranks = append(ranks, r)
		}
		byRank[r] += a.left[c] - b.left[c]
	}
	slices.Sort(ranks)
	for _, r := range ranks {
		if byRank[r] != 0 {
			return byRank[r]
		}
	}
	return 0
}

// answer says in the words of the problem what the solution is.
func (m *model) answer(p Problem, s *solution) Answer {
	a := Answer{Cost: m.cost(s), Duals: make([]int64, len(p.Items))}
	for _, n := range s.nodes {
		out := Node{Host: m.hosts[n.host].host, Times: n.times, Items: make([]Portion, 0, len(n.items))}
		for _, it := range n.items {
			out.Items = append(out.Items, Portion{m.classes[it.class].item, it.count})
		}
		slices.SortFunc(out.Items, byItem)
		a.Nodes = append(a.Nodes, out)
	}
	a.Left = slices.Clone(m.unplaceable)
	for c, n := range s.left {
		if n > 0 {
			a.Left = append(a.Left, Portion{m.classes[c].item, n})
		}
	}
	slices.SortFunc(a.Left, byItem)
	return a
}

func byItem(a, b Portion) int { return cmp.Compare(a.Item, b.Item) }

// counts is how many there are of each class.
func (m *model) counts() []int {
	counts := make([]int, len(m.classes))
	for c := range counts {
		counts[c] = m.classes[c].count
	}
	return counts
}
