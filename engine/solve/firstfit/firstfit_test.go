package firstfit_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/enginetest/problems"
	"github.com/tenon-sh/tenon/engine/solve/firstfit"
	"github.com/tenon-sh/tenon/engine/solve/model"
)

// First fit keeps every rule, and what budgets have it leave out finds no place once it has been topped up.
func TestPlaceIsValid(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems.Drawn(7, 12, rapid.Bool().Draw(t, "budgets")).Draw(t, "problem")
		m := model.Compile(p)
		s := firstfit.Place(m)
		firstfit.TopUp(m, s)
		for _, wrong := range problems.Check(p, m.Answer(p, s)) {
			t.Errorf("%s", wrong)
		}
	})
}
