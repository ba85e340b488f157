package solve

// Bound returns what placing all items costs at least, without looking for a way to place them. It is not looked for a
// better bound where that is close to goal, which is what a known way costs.
func Bound(p Problem, goal int64) int64 {
	p.Charge = 0
	return least(p, proving{known: incumbent{goal: goal}})
}

// Spend is Bound of price and charge together, looked for longer.
func Spend(p Problem, goal int64) int64 {
	return least(p, proving{known: incumbent{goal: goal}, charge: p.Charge, thorough: true})
}

// proving is how a bound is looked for.
type proving struct {
	known    incumbent // what is known of ways to place the items
	charge   int64     // for each host
	thorough bool      // the bound is for a person, who can wait for a better one
}

// least is what placing all items costs at least.
func least(p Problem, how proving) int64 {
	m := compile(p)
	a := Answer{Duals: make([]int64, len(p.Items))}
	for _, seed := range p.Seeds {
		for _, n := range seed.Nodes {
			if out, ok := m.readNode(n); ok {
				how.known.nodes = append(how.known.nodes, out)
			}
		}
	}
	m.prove(&a, make([]int, len(m.classes)), how)
	return a.Bound
}

// Worth returns the bound, and what one of each item is worth at its prices, in micro-dollars per hour, where others may come beside
// them: what is left of a host is no loss.
func Worth(p Problem) (least int64, worth []int64) {
	p.Shared = true
	m := compile(p)
	a := Answer{Duals: make([]int64, len(p.Items))}
	m.prove(&a, make([]int, len(m.classes)), proving{})
	return a.Bound, a.Duals
}

// prove fills in what placing all but what is left costs at least, and what items are worth then.
func (m *model) prove(a *Answer, left []int, how proving) {
	if len(m.classes) == 0 {
		return
	}
	placed := make([]int, len(m.classes))
	for c := range placed {
		placed[c] = m.classes[c].count - left[c]
	}
	f := newRelaxation(m, m.kinds(), how.charge)
	f.ascend()
	if how.thorough {
		f.climb(100, 0.2, 0.02)
	}
	bound, worth := f.boundByPrices(placed)
	a.Bound = f.boundByPatterns(placed, bound, worth, how.known)
	if how.thorough {
		a.Bound = max(a.Bound, m.boundApart(placed, how.charge))
	}
	if how.thorough && a.Bound < how.known.goal {
		a.Bound = f.boundByHosts(placed, a.Bound, how.known.goal)
	}
	a.Steps += f.steps
	for c, w := range worth {
		a.Duals[m.classes[c].item] = w >> moneyBits
	}
}
