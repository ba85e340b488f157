package solve

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/enginetest/problems"
	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// No answer costs less than the bound of price and charge, however much dearer what is known is.
func TestSpendIsBelowAllAnswers(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems.Drawn(7, 12, rapid.Bool().Draw(t, "budgets")).Draw(t, "problem")
		a := Solve(p)
		if leftOver(a) > 0 {
			return
		}
		goal := a.Cost
		for _, n := range a.Nodes {
			goal += p.Charge * int64(n.Times)
		}
		if bound := Spend(p, goal*int64(rapid.IntRange(1, 3).Draw(t, "dearer"))); bound > goal {
			t.Fatalf("the bound is %d, and there is an answer of %d: %+v", bound, goal, a)
		}
	})
}

// An item that only dear hosts take, and that fills three quarters of one, needs all of it: what others come to there, which
// cheap hosts take as well, is little.
func TestBoundOfABlock(t *testing.T) {
	p := problem.Problem{
		Hosts: []problem.Host{{Name: "cheap", Room: []int64{100, 100}, Price: 10_000}, {Name: "dear", Room: []int64{100, 100}, Price: 100_000}},
		Items: []problem.Item{{Name: "large", Count: 1, Need: []int64{75, 75}, Hosts: problem.Bits{2}}},
	}
	for i := range 50 { // too many classes for patterns
		p.Items = append(p.Items, problem.Item{Name: fmt.Sprintf("small %02d", i), Count: 2, Need: []int64{10, int64(i%7) + 5}, Hosts: problem.AllBits(2)})
	}
	// A hundred of ten each: ten cheap hosts, less what a quarter of the dear one saves of them.
	if least := Spend(p, 0); least < 190_000 || least > 220_000 {
		t.Errorf("%d is proven, not about 200,000", least)
	}
}
