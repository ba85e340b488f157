package solve

import (
	"cmp"
	"slices"
)

// Solve places all items it can on hosts it opens, at a cost as low as it can find.
func Solve(p Problem) Answer {
	m := compile(p)
	best := m.firstFit()
	f := newFluid(m, m.charge)
	f.climb(150, 0.6, 0.1)
	classes := make([]int32, len(m.classes))
	for c := range classes {
		classes[c] = int32(c)
	}
	var left []int64
	k := newPacker(m)
	for _, st := range styles() {
		for c := range k.rem {
			k.rem[c] = m.classes[c].count
		}
		budgets := append([]int64{}, m.budgets...)
		pr := f.clone().prices(st.loose)
		s := &solution{nodes: k.greedy(pr, st, classes, budgets), left: slices.Clone(k.rem)}
		for i := range s.nodes {
			m.downsize(&s.nodes[i], budgets)
		}
		if debug {
			println(int(st.slack*10), int(st.pull*10), int(st.crowd*10), m.goal(s), m.cost(s))
		}
		if cmp.Or(m.missing(s, best), cmp.Compare(m.goal(s), m.goal(best))) < 0 {
			best = s
			left = budgets
		}
	}
	if p.Steps >= 0 && left != nil {
		best = k.improve(best, f, left, cmp.Or(p.Steps, DefaultSteps))
	}
	for i := range best.nodes {
		slices.SortFunc(best.nodes[i].items, func(a, b share) int { return cmp.Compare(a.class, b.class) })
	}
	a := m.answer(p, best)
	placed := make([]int, len(m.classes))
	for c := range placed {
		placed[c] = m.classes[c].count - best.left[c]
	}
	g := newFluid(m, 0)
	copy(g.share, f.share)
	g.climb(100, 0.2, 0.02)
	var worth []int64
	a.Bound, worth = g.bound(placed)
	for c, w := range worth {
		a.Duals[m.classes[c].item] = w >> moneyBits
	}
	return a
}

// styles are the starts of the search.
func styles() []style {
	return []style{
		{slack: 1, pull: 0, again: .95, loose: .03},
		{slack: 1, pull: .5, again: .95, loose: .03, crowd: .6},
		{slack: 1, pull: .5, again: .95, loose: .03, crowd: 1},
		{slack: 1, pull: .5, again: .95, loose: .03, crowd: 1.5},
		{slack: 2, pull: 1, again: .95, loose: .03, crowd: 1},
		{slack: 2, pull: 1, again: .95, loose: .03, crowd: 2},
		{slack: 2, pull: 1, again: .95, loose: .03, crowd: 4},
		{slack: 2, pull: 2, again: .95, loose: .03, crowd: 0},
		{slack: 4, pull: 2, again: .95, loose: .03, crowd: 1},
		{slack: 4, pull: 2, again: .95, loose: .03, crowd: 2},
	}
}

var debug = true
