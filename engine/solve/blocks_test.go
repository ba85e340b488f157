package solve

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
)

// Neither the bound of blocks nor that of hosts told apart is ever above the optimum, whatever the caps, conflicts and budgets.
func TestBoundOfBlocksAgainstTheOptimum(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems(5, 2, rapid.Bool().Draw(t, "budgets")).Draw(t, "problem")
		for i := range p.Items { // some go to few hosts
			if rapid.Bool().Draw(t, "pinned") {
				p.Items[i].Hosts = NewBits(len(p.Hosts))
				p.Items[i].Hosts.Set(rapid.IntRange(0, len(p.Hosts)-1).Draw(t, "only"))
			}
		}
		a := Solve(p)
		m := compile(p)
		if len(m.classes) == 0 {
			return
		}
		placed := make([]int, len(m.classes))
		for c := range placed {
			placed[c] = m.classes[c].count
		}
		spent := a.Cost
		for _, n := range a.Nodes {
			spent += p.Charge * int64(n.Times)
		}
		for _, l := range a.Left {
			if c := m.classOf[l.Item]; c >= 0 {
				placed[c] -= l.Count
			}
		}
		if least := m.boundApart(placed, p.Charge); least > spent {
			t.Fatalf("%d is proven, and %d is spent", least, spent)
		}
	})
}
