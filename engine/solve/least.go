package solve

import (
	"github.com/tenon-sh/tenon/engine/solve/block"
	"github.com/tenon-sh/tenon/engine/solve/integer"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/pattern"
	"github.com/tenon-sh/tenon/engine/solve/problem"
	"github.com/tenon-sh/tenon/engine/solve/proof"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// Bound returns what placing all items costs at least, without looking for a way to place them. It is not looked for a
// better bound where that is close to goal, which is what a known way costs.
func Bound(p problem.Problem, goal int64) int64 {
	p.Charge = 0
	return least(p, proving{known: pattern.Incumbent{Goal: goal}})
}

// Spend is Bound of price and charge together, looked for longer.
func Spend(p problem.Problem, goal int64) int64 {
	return least(p, proving{known: pattern.Incumbent{Goal: goal}, charge: p.Charge, thorough: true})
}

// proving is how a bound is looked for.
type proving struct {
	known    pattern.Incumbent // what is known of ways to place the items
	charge   int64             // for each host
	thorough bool              // the bound is for a person, who can wait for a better one
}

// least is what placing all items costs at least.
func least(p problem.Problem, how proving) int64 {
	m := model.Compile(p)
	a := problem.Answer{Duals: make([]int64, len(p.Items))}
	for _, seed := range p.Seeds {
		for _, n := range seed.Nodes {
			if out, ok := m.ReadNode(n); ok {
				how.known.Nodes = append(how.known.Nodes, out)
			}
		}
	}
	prove(m, &a, make([]int, len(m.Classes)), how)
	return a.Bound
}

// Worth returns the bound, and what one of each item is worth at its prices, in micro-dollars per hour, where others may come beside
// them: what is left of a host is no loss.
func Worth(p problem.Problem) (least int64, worth []int64) {
	p.Shared = true
	m := model.Compile(p)
	a := problem.Answer{Duals: make([]int64, len(p.Items))}
	prove(m, &a, make([]int, len(m.Classes)), proving{})
	return a.Bound, a.Duals
}

// prove fills in what placing all but what is left costs at least, and what items are worth then.
func prove(m *model.Model, a *problem.Answer, left []int, how proving) {
	if len(m.Classes) == 0 {
		return
	}
	placed := make([]int, len(m.Classes))
	for c := range placed {
		placed[c] = m.Classes[c].Count - left[c]
	}
	f := relax.New(m, relax.KindsOf(m), how.charge)
	f.Ascend()
	if how.thorough {
		f.Climb(100, 0.2, 0.02)
	}
	bound, worth := proof.Bound(f, placed)
	a.Bound = pattern.Bound(f, placed, bound, worth, how.known)
	if how.thorough {
		a.Bound = max(a.Bound, block.Bound(m, placed, how.charge))
	}
	if how.thorough && a.Bound < how.known.Goal {
		a.Bound = integer.Bound(f, placed, a.Bound, how.known.Goal)
	}
	a.Steps += f.Steps
	for c, w := range worth {
		a.Duals[m.Classes[c].Item] = w >> proof.MoneyBits
	}
}
