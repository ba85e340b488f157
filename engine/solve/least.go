package solve

// Bound returns what placing all items costs at least, without looking for a way to place them. It is not looked for a
// better bound where that is close to goal, which is what a known way costs.
func Bound(p Problem, goal int64) int64 {
	m := compile(p)
	a := Answer{Duals: make([]int64, len(p.Items))}
	var known []node
	for _, seed := range p.Seeds {
		for _, n := range seed.Nodes {
			if out, ok := m.readNode(n); ok {
				known = append(known, out)
			}
		}
	}
	m.prove(&a, make([]int, len(m.classes)), goal, known)
	return a.Bound
}

// Worth returns the bound, and what one of each item is worth at its prices, in micro-dollars per hour.
func Worth(p Problem) (least int64, worth []int64) {
	m := compile(p)
	a := Answer{Duals: make([]int64, len(p.Items))}
	m.prove(&a, make([]int, len(m.classes)), 0, nil)
	return a.Bound, a.Duals
}

// prove fills in what placing all but what is left costs at least, and what items are worth then.
func (m *model) prove(a *Answer, left []int, goal int64, known []node) {
	if len(m.classes) == 0 {
		return
	}
	f := newFluid(m, m.kinds(), 0)
	f.ascend()
	placed := make([]int, len(m.classes))
	for c := range placed {
		placed[c] = m.classes[c].count - left[c]
	}
	least, worth := f.bound(placed)
	least = f.wholes(placed, least, worth, goal, known)
	a.Bound, a.Steps = least, a.Steps+f.steps
	for c, w := range worth {
		a.Duals[m.classes[c].item] = w >> moneyBits
	}
}
