package improve_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/enginetest/problems"
	"github.com/tenon-sh/tenon/engine/solve/fill"
	"github.com/tenon-sh/tenon/engine/solve/firstfit"
	"github.com/tenon-sh/tenon/engine/solve/improve"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// What is improved keeps every rule, is never dearer, and leaves out what it did before.
func TestImprovedIsNotDearer(t *testing.T) {
	saved := 0
	chance.Check(t, func(t *rapid.T) {
		p := problems.Drawn(7, 12, rapid.Bool().Draw(t, "budgets")).Draw(t, "problem")
		m := model.Compile(p)
		if len(m.Classes) == 0 {
			return
		}
		s := firstfit.Place(m)
		firstfit.TopUp(m, s)
		f := relax.New(m, relax.KindsOf(m), m.Charge)
		f.Ascend()
		before := m.Goal(s)
		better := improve.Run(fill.NewPacker(m), s, f.Prices(0.2), 20_000, func(int64) int { return 3 })
		if m.Goal(better) > before || m.CompareLeft(better, s) != 0 {
			t.Fatalf("it costs %d, and did cost %d; %v is left, and %v was", m.Goal(better), before, better.Left, s.Left)
		}
		if m.Goal(better) < before {
			saved++
		}
		firstfit.TopUp(m, better)
		for _, wrong := range problems.Check(p, m.Answer(p, better)) {
			t.Errorf("%s", wrong)
		}
	})
	if saved == 0 {
		t.Error("first fit was never improved")
	}
}
