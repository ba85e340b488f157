package solve

import (
	"github.com/tenon-sh/tenon/engine/solve/firstfit"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Within is what an answer has on the first so many hosts of its problem, with whatever else these take within the budgets.
func Within(p problem.Problem, a problem.Answer, hosts int) (problem.Problem, problem.Answer) {
	q := Part(p, 0, hosts, nil)
	var first problem.Answer
	for _, n := range a.Nodes {
		if n.Host < hosts {
			first.Nodes = append(first.Nodes, n)
		}
	}
	m := model.Compile(q)
	s := m.Read(first)
	if s == nil {
		return q, a
	}
	firstfit.TopUp(m, s)
	out := m.Answer(q, s)
	out.Steps = a.Steps
	return q, out
}

// Part is the problem on some of its hosts in a row, for what is left of the items; nil is all of them.
func Part(p problem.Problem, from, to int, left []problem.Portion) problem.Problem {
	q := p
	q.Hosts, q.Seeds, q.Unproven = p.Hosts[from:to], nil, true
	q.Items = make([]problem.Item, len(p.Items))
	for i, it := range p.Items {
		it.Hosts = problem.NewBits(to - from)
		p.Items[i].Hosts.Each(func(h int) {
			if h >= from && h < to {
				it.Hosts.Set(h - from)
			}
		})
		if left != nil {
			it.Count = 0
		}
		q.Items[i] = it
	}
	for _, l := range left {
		q.Items[l.Item].Count = l.Count
	}
	return q
}
