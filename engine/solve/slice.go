package solve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/solve/firstfit"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/pattern"
	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// The search looks at every class for every host it opens, and the more classes, the more hosts. Beyond so many classes the problem
// is taken apart into slices of a like mix, which are searched one after the other: some hosts of each are not quite full, and no
// slice is dearer than first fit would be for it.
const (
	mostItems = 5_000
	sliceSize = 2_500
)

// Solve places all items it can on hosts it opens, at a cost as low as it can find.
func Solve(p problem.Problem) problem.Answer {
	if len(p.Items) > mostItems {
		return inSlices(p, sliceSize)
	}
	return solveWhole(p)
}

// inSlices solves a problem of very many classes, so many at a time.
func inSlices(p problem.Problem, size int) problem.Answer {
	parts := slicesOf(p, size)
	var whole problem.Answer
	left := slices.Clone(p.Budgets)
	for _, items := range parts {
		part := part(&p, items)
		part.Budgets, part.Steps = left, max(cmp.Or(p.Steps, problem.DefaultSteps)/len(parts), 1)
		a := solveWhole(part)
		for _, n := range a.Nodes {
			for i := range n.Items {
				n.Items[i].Item = items[n.Items[i].Item]
			}
			for _, d := range p.Hosts[n.Host].Draws {
				left[d.Budget] -= max(d.Amount, 0) * int64(n.Times)
			}
			whole.Nodes = append(whole.Nodes, n)
		}
		whole.Steps += a.Steps
	}
	return join(&p, whole)
}

// join makes an answer of what was found for the slices: what some left over may find room on hosts of others.
func join(p *problem.Problem, found problem.Answer) problem.Answer {
	m := model.Compile(*p)
	best := m.Read(found)
	firstfit.TopUp(m, best)
	for _, a := range p.Seeds {
		if s := m.Seed(a); s != nil && cmp.Or(m.CompareLeft(s, best), cmp.Compare(m.Cost(s), m.Cost(best))) < 0 {
			best = s
		}
	}
	a := m.Answer(*p, best)
	a.Steps = found.Steps
	if !p.Unproven {
		prove(m, &a, best.Left, proving{known: pattern.Incumbent{Goal: a.Cost, Nodes: best.Nodes}})
	}
	return a
}

// slicesOf deals the items out: where budgets may not suffice rank after rank, and those of one rank such that all slices are alike.
func slicesOf(p problem.Problem, size int) [][]int {
	order := make([]int, len(p.Items))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		if len(p.Budgets) == 0 {
			return 0
		}
		return p.Items[i].Rank
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &p.Items[a], &p.Items[b]
		return cmp.Or(cmp.Compare(rank(a), rank(b)), -slices.Compare(x.Need, y.Need), strings.Compare(x.Name, y.Name), cmp.Compare(a, b))
	})
	var out [][]int
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && rank(order[to]) == rank(order[from]) {
			to++
		}
		n := (to - from + size - 1) / size
		parts := make([][]int, n)
		for i, item := range order[from:to] {
			parts[i%n] = append(parts[i%n], item)
		}
		out = append(out, parts...)
		from = to
	}
	return out
}

// part is the problem of some of the items alone.
func part(p *problem.Problem, items []int) problem.Problem {
	out := problem.Problem{Hosts: p.Hosts, Charge: p.Charge, Shared: p.Shared, Unproven: true}
	at := make(map[int]int, len(items))
	for k, i := range items {
		at[i] = k
	}
	within := func(all []int) (some []int) {
		for _, i := range all {
			if k, ok := at[i]; ok {
				some = append(some, k)
			}
		}
		return some
	}
	for _, i := range items {
		item := p.Items[i]
		item.Conflicts = within(item.Conflicts)
		out.Items = append(out.Items, item)
	}
	for _, g := range p.Groups {
		if members := within(g.Members); len(members) > 0 {
			out.Groups = append(out.Groups, problem.Group{Members: members, Cap: g.Cap})
		}
	}
	return out
}
