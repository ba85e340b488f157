package model

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Solution is a way to place the classes of a model.
type Solution struct {
	Nodes []Node // the opened hosts
	Left  []int  // for each class how many found no place
}

// Node is times equal hosts and what each of them holds.
type Node struct {
	Host  int32     // by its position in the model
	Times int       // how many hosts hold the same
	Items []Portion // sorted by class
}

// Portion is Count items of a class.
type Portion struct {
	Class int32 // by its position in the model
	Count int   // how many of its items
}

// SmallItemCount is a number of items for which few hosts are opened. These have to suit the items in size, so that hosts come into
// question that are dearer for it.
const SmallItemCount = 100

// ItemCount is how many there are to place.
func (m *Model) ItemCount() int {
	sum := 0
	for c := range m.Classes {
		sum += m.Classes[c].Count
	}
	return sum
}

// Cost is the price of all nodes.
func (m *Model) Cost(s *Solution) int64 {
	sum := int64(0)
	for _, n := range s.Nodes {
		sum += m.Hosts[n.Host].Price * int64(n.Times)
	}
	return sum
}

// Goal is what the search makes small: the price of all nodes and the charge for each.
func (m *Model) Goal(s *Solution) int64 {
	sum := m.Cost(s)
	for _, n := range s.Nodes {
		sum += m.Charge * int64(n.Times)
	}
	return sum
}

// CompareLeft compares what two solutions leave out, lower ranks first: negative when a leaves out less.
func (m *Model) CompareLeft(a, b *Solution) int {
	if !m.rationed {
		return 0
	}
	byRank := make(map[int]int)
	var ranks []int
	for c := range m.Classes {
		r := m.Classes[c].rank
		if _, known := byRank[r]; !known {
			ranks = append(ranks, r)
		}
		byRank[r] += a.Left[c] - b.Left[c]
	}
	slices.Sort(ranks)
	for _, r := range ranks {
		if byRank[r] != 0 {
			return byRank[r]
		}
	}
	return 0
}

// Answer says in the words of the problem what the solution is.
func (m *Model) Answer(p problem.Problem, s *Solution) problem.Answer {
	a := problem.Answer{Cost: m.Cost(s), Duals: make([]int64, len(p.Items))}
	for _, n := range s.Nodes {
		out := problem.Node{Host: m.Hosts[n.Host].host, Times: n.Times, Items: make([]problem.Portion, 0, len(n.Items))}
		for _, it := range n.Items {
			out.Items = append(out.Items, problem.Portion{Item: m.Classes[it.Class].Item, Count: it.Count})
		}
		slices.SortFunc(out.Items, byItem)
		a.Nodes = append(a.Nodes, out)
	}
	a.Left = slices.Clone(m.unplaceable)
	for c, n := range s.Left {
		if n > 0 {
			a.Left = append(a.Left, problem.Portion{Item: m.Classes[c].Item, Count: n})
		}
	}
	slices.SortFunc(a.Left, byItem)
	return a
}

func byItem(a, b problem.Portion) int { return cmp.Compare(a.Item, b.Item) }

// Counts is how many there are of each class.
func (m *Model) Counts() []int {
	counts := make([]int, len(m.Classes))
	for c := range counts {
		counts[c] = m.Classes[c].Count
	}
	return counts
}
