package solve

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
)

// An item that only dear hosts take, and that fills three quarters of one, needs all of it: what others come to there, which
// cheap hosts take as well, is little.
func TestBoundOfABlock(t *testing.T) {
	p := Problem{
		Hosts: []Host{{Name: "cheap", Room: []int64{100, 100}, Price: 10_000}, {Name: "dear", Room: []int64{100, 100}, Price: 100_000}},
		Items: []Item{{Name: "large", Count: 1, Need: []int64{75, 75}, Hosts: Bits{2}}},
	}
	for i := range maxPatternClasses + 10 { // too many classes for patterns
		p.Items = append(p.Items, Item{Name: fmt.Sprintf("small %02d", i), Count: 2, Need: []int64{10, int64(i%7) + 5}, Hosts: AllBits(2)})
	}
	// A hundred of ten each: ten cheap hosts, less what a quarter of the dear one saves of them.
	if least := Spend(p, 0); least < 190_000 || least > 220_000 {
		t.Errorf("%d is proven, not about 200,000", least)
	}
}

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
		if least := m.apart(placed, p.Charge); least > spent {
			t.Fatalf("%d is proven, and %d is spent", least, spent)
		}
	})
}
