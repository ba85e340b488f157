package proof_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/enginetest/problems"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/proof"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// However few rounds the prices are from, what they prove is not above the optimum, and no full host is worth more than its price.
func TestBoundIsBelowTheOptimum(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems.Drawn(4, 2, false).Draw(t, "problem")
		m := model.Compile(p)
		if len(m.Classes) == 0 {
			return
		}
		f := relax.New(m, relax.KindsOf(m), p.Charge)
		f.Climb(rapid.IntRange(0, 40).Draw(t, "rounds"), 0.6, 0.1)
		optimum := problems.Optimum(p, 1<<60)
		if bound, _ := proof.Bound(f, m.Counts()); bound > optimum {
			t.Fatalf("%d is proven, and the optimum is %d", bound, optimum)
		}
		prices := proof.New(f)
		for n := range f.Kinds.All {
			if worth, price := prices.Full(int32(n)), prices.Price(&f.Kinds.All[n]); worth > price {
				t.Fatalf("a full host of kind %d is worth %d and costs %d", n, worth, price)
			}
		}
	})
}
