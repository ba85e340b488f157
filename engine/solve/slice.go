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
	// dividedPart is the part of a slice's classes that all slices have a share of, of each kind of those that matter most.
	dividedPart = 8
)

// Steps is how much counted work so many items of so many classes are worth: each slice is a search of its own.
func Steps(items, classes int) int {
	searches := 1
	if classes > mostItems {
		searches = (classes + sliceSize - 1) / sliceSize
	}
	return min(max(items*stepsPerItem, minSteps), searches*problem.DefaultSteps)
}

// The search for a few items is shorter than that for many.
const (
	stepsPerItem = 1_000
	minSteps     = 4_000_000
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
	parts := slicesOf(&p, size)
	var whole problem.Answer
	left := slices.Clone(p.Budgets)
	for _, items := range parts {
		part := part(&p, items)
		part.Budgets, part.Steps = left, max(cmp.Or(p.Steps, problem.DefaultSteps)/len(parts), 1)
		a := solveWhole(part)
		for _, n := range a.Nodes {
			for i := range n.Items {
				n.Items[i].Item = items[n.Items[i].Item].Item
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
func slicesOf(p *problem.Problem, size int) [][]problem.Portion {
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
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	w := weigh(p)
	var out [][]problem.Portion
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && rank(order[to]) == rank(order[from]) {
			to++
		}
		out = append(out, w.deal(order[from:to], size)...)
		from = to
	}
	return out
}

// weights say what the items of each class are beside all others.
type weights struct {
	items []problem.Item
	most  []int     // the dimension of which they take the largest share
	share []float64 // and that share
}

func weigh(p *problem.Problem) weights {
	w := weights{items: p.Items, most: make([]int, len(p.Items)), share: make([]float64, len(p.Items))}
	var total []float64
	for _, it := range p.Items {
		for d, n := range it.Need {
			if d == len(total) {
				total = append(total, 0)
			}
			total[d] += float64(float64(n) * float64(it.Count))
		}
	}
	for i, it := range p.Items {
		for d, n := range it.Need {
			if total[d] <= 0 {
				continue
			}
			if share := float64(n) * float64(it.Count) / total[d]; share > w.share[i] {
				w.most[i], w.share[i] = d, share
			}
		}
	}
	return w
}

// hosts is how many hosts a class needs at least because of its cap.
func (w *weights) hosts(i int) int {
	if w.items[i].PerHost <= 0 {
		return 0
	}
	return w.items[i].Count / w.items[i].PerHost
}

// deal makes slices of classes, each of about so many. The items of those that need most hosts, or take most, are shared out among all
// slices: one slice alone would open hosts for them that it has no use for otherwise. The others are dealt whole, such that each slice
// has as many of each size that lack the same.
func (w *weights) deal(order []int, size int) [][]problem.Portion {
	if len(order) <= size {
		whole := make([]problem.Portion, len(order))
		for k, i := range order {
			whole[k] = problem.Portion{Item: i, Count: w.items[i].Count}
		}
		return [][]problem.Portion{whole}
	}
	rest := slices.Clone(order)
	byName := func(a, b int) int {
		return cmp.Or(strings.Compare(w.items[a].Name, w.items[b].Name), cmp.Compare(a, b))
	}
	divided := size / dividedPart
	slices.SortFunc(rest, func(a, b int) int { return cmp.Or(-cmp.Compare(w.hosts(a), w.hosts(b)), byName(a, b)) })
	slices.SortFunc(rest[divided:], func(a, b int) int { return cmp.Or(-cmp.Compare(w.share[a], w.share[b]), byName(a, b)) })
	all, rest := rest[:2*divided], rest[2*divided:]
	parts := make([][]problem.Portion, (len(rest)+size-len(all)-1)/(size-len(all)))
	n, next := len(parts), 0
	for _, i := range all {
		count := w.items[i].Count
		for k := range min(n, count) {
			some := count / n
			if k < count%n {
				some++
			}
			parts[(next+k)%n] = append(parts[(next+k)%n], problem.Portion{Item: i, Count: some})
		}
		next = (next + count) % n
	}
	slices.SortFunc(rest, func(a, b int) int {
		return cmp.Or(cmp.Compare(w.most[a], w.most[b]), -cmp.Compare(w.share[a], w.share[b]), byName(a, b))
	})
	for k, i := range rest {
		at := k % (2 * n) // there and back again: the slice that has the larger of two has the smaller of the next two
		if at >= n {
			at = 2*n - 1 - at
		}
		parts[at] = append(parts[at], problem.Portion{Item: i, Count: w.items[i].Count})
	}
	return parts
}

// part is the problem of some of the items alone.
func part(p *problem.Problem, items []problem.Portion) problem.Problem {
	out := problem.Problem{Hosts: p.Hosts, Charge: p.Charge, Shared: p.Shared, Unproven: true}
	at := make(map[int]int, len(items))
	for k, it := range items {
		at[it.Item] = k
	}
	within := func(all []int) (some []int) {
		for _, i := range all {
			if k, ok := at[i]; ok {
				some = append(some, k)
			}
		}
		return some
	}
	for _, it := range items {
		item := p.Items[it.Item]
		item.Count, item.Conflicts = it.Count, within(item.Conflicts)
		out.Items = append(out.Items, item)
	}
	for _, g := range p.Groups {
		if members := within(g.Members); len(members) > 0 {
			out.Groups = append(out.Groups, problem.Group{Members: members, Cap: g.Cap})
		}
	}
	return out
}
