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
	f.climb(150)
	value, _ := f.values()
	unit := make([]float64, len(f.share))
	f.unitPrices(unit)
	classes := make([]int32, len(m.classes))
	for c := range classes {
		classes[c] = int32(c)
	}
	k := newPacker(m)
	for _, start := range []struct{ bias, slack float64 }{{0, 2}, {0, 4}, {0, 0}, {1, 2}, {1, 4}, {1, 0}} {
		pr := &pricing{value: slices.Clone(value), unit: unit, width: f.width, hosts: allHosts(m), slack: start.slack}
		if start.bias > 0 {
			m.biasBySize(pr.value)
		}
		for c := range k.rem {
			k.rem[c] = m.classes[c].count
		}
		budgets := slices.Clone(m.budgets)
		s := &solution{nodes: k.greedy(pr, classes, budgets), left: slices.Clone(k.rem)}
		for i := range s.nodes {
			m.downsize(&s.nodes[i], budgets)
		}
		if cmp.Or(m.missing(s, best), cmp.Compare(m.goal(s), m.goal(best))) < 0 {
			best = s
		}
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
	g.climb(100)
	var worth []int64
	a.Bound, worth = g.bound(placed)
	for c, w := range worth {
		a.Duals[m.classes[c].item] = w >> moneyBits
	}
	return a
}

// biasBySize makes large items, which are hard to place later, worth somewhat more than their share.
func (m *model) biasBySize(value []float64) {
	for c, v := range value {
		value[c] = v * root4(v)
	}
}
