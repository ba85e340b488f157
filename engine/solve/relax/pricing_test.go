package relax_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/problem"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// While items are placed, budgets shrink with them: what is left of one that does not suffice is worth as much as before.
func TestBudgetsAreWorthWhatIsLeft(t *testing.T) {
	m := model.Compile(problem.Problem{
		Items:   []problem.Item{{Name: "item", Count: 20, Need: []int64{10}, Hosts: problem.AllBits(2)}},
		Hosts:   []problem.Host{{Name: "cheap", Room: []int64{10}, Price: 100, Draws: []problem.Draw{{Budget: 0, Amount: 1}}}, {Name: "dear", Room: []int64{10}, Price: 300}},
		Budgets: []int64{10},
	})
	f := relax.New(m, relax.KindsOf(m), 0)
	f.Ascend()
	p := f.Prices(1)
	before := f.BudgetPrice[0]
	for range 20 {
		p.Renew([]int{4}, []int64{2}, 1)
	}
	if after := f.BudgetPrice[0]; before < 150 || after < 150 {
		t.Errorf("a unit of the budget saves 200, and is worth %.0f at first and %.0f when a fifth of all is left", before, after)
	}
}
