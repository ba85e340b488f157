package exact_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/enginetest/problems"
	"github.com/tenon-sh/tenon/engine/solve/exact"
	"github.com/tenon-sh/tenon/engine/solve/model"
)

// What is found by taking the whole apart costs what the optimum does, and so does what is found for one class alone.
func TestExactIsTheOptimum(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems.Drawn(4, 2, false).Draw(t, "problem")
		m := model.Compile(p)
		if len(m.Classes) == 0 {
			return
		}
		optimum := problems.Optimum(p, 1<<60)
		s := exact.New(m).Solve(p.Charge)
		if goal := m.Goal(s); goal != optimum {
			t.Fatalf("with the charge it costs %d, the optimum %d", goal, optimum)
		}
		for _, wrong := range problems.Check(p, m.Answer(p, s)) {
			t.Errorf("%s", wrong)
		}
		if one := exact.OneClass(m); len(m.Classes) == 1 && m.Goal(one) != optimum {
			t.Fatalf("the class alone costs %d, the optimum %d", m.Goal(one), optimum)
		}
	})
}
