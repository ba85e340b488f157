package block_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/enginetest/problems"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/solve/block"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Neither the bound of blocks nor that of hosts told apart is ever above the optimum, whatever the caps, conflicts and budgets.
func TestBoundOfBlocksAgainstTheOptimum(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems.Drawn(5, 2, rapid.Bool().Draw(t, "budgets")).Draw(t, "problem")
		for i := range p.Items { // some go to few hosts
			if rapid.Bool().Draw(t, "pinned") {
				p.Items[i].Hosts = problem.NewBits(len(p.Hosts))
				p.Items[i].Hosts.Set(rapid.IntRange(0, len(p.Hosts)-1).Draw(t, "only"))
			}
		}
		a := solve.Solve(p)
		m := model.Compile(p)
		if len(m.Classes) == 0 {
			return
		}
		placed := make([]int, len(m.Classes))
		for c := range placed {
			placed[c] = m.Classes[c].Count
		}
		spent := a.Cost
		for _, n := range a.Nodes {
			spent += p.Charge * int64(n.Times)
		}
		for _, l := range a.Left {
			if c := m.ClassOf[l.Item]; c >= 0 {
				placed[c] -= l.Count
			}
		}
		if least := block.Bound(m, placed, p.Charge); least > spent {
			t.Fatalf("%d is proven, and %d is spent", least, spent)
		}
	})
}
