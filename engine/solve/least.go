package solve

// Bound returns what placing all items costs at least, without looking for a way to place them. It is not looked for a
// better bound where that is close to goal, which is what a known way costs.
func Bound(p Problem, goal int64) int64 {
	p.Charge = 0
	return least(p, evidence{goal: goal})
}

// Spend is Bound of price and charge together, looked for longer.
func Spend(p Problem, goal int64) int64 { return least(p, evidence{goal: goal, thorough: true}) }

// least is what placing all items costs at least, with the charge.
func least(p Problem, e evidence) int64 {
	m := compile(p)
	a := Answer{Duals: make([]int64, len(p.Items))}
	for _, seed := range p.Seeds {
		for _, n := range seed.Nodes {
			if out, ok := m.readNode(n); ok {
				e.hosts = append(e.hosts, out)
			}
		}
	}
	m.prove(&a, make([]int, len(m.classes)), m.charge, e)
	return a.Bound
}

// Worth returns the bound, and what one of each item is worth at its prices, in micro-dollars per hour, where others may come beside
// them: what is left of a host is no loss.
func Worth(p Problem) (least int64, worth []int64) {
	m := compileAmong(p, false)
	a := Answer{Duals: make([]int64, len(p.Items))}
	m.prove(&a, make([]int, len(m.classes)), 0, evidence{})
	return a.Bound, a.Duals
}

// prove fills in what placing all but what is left costs at least, with a charge for each host, and what items are worth then.
func (m *model) prove(a *Answer, left []int, charge int64, e evidence) {
	if len(m.classes) == 0 {
		return
	}
	placed := make([]int, len(m.classes))
	for c := range placed {
		placed[c] = m.classes[c].count - left[c]
	}
	f := newFluid(m, m.kinds(), charge)
	f.ascend()
	if e.thorough {
		f.climb(100, 0.2, 0.02)
	}
	bound, worth := f.bound(placed)
	a.Bound = f.wholes(placed, bound, worth, e)
	if e.thorough {
		a.Bound = max(a.Bound, m.apart(placed, charge))
	}
	if e.thorough && a.Bound < e.goal {
		a.Bound = f.inWholeHosts(placed, a.Bound, e.goal)
	}
	a.Steps += f.steps
	for c, w := range worth {
		a.Duals[m.classes[c].item] = w >> moneyBits
	}
}

// apart is a bound for which hosts are told apart by what they take, and items are taken by themselves that can go to few of them.
func (m *model) apart(placed []int, charge int64) int64 {
	f := newFluid(m, m.kindsApart(), charge)
	f.ascend()
	f.climb(100, 0.2, 0.02)
	bound, _ := f.bound(placed)
	return f.blocked(placed, bound)
}
