package fill

import (
	"slices"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest/problems"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/problem"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// The start from the relaxation's mix keeps every rule and leaves out nothing that hosts can take, whatever the items.
func TestMixIsValid(t *testing.T) {
	for seed := range 3 {
		for _, f := range problems.Figures() {
			if f.N > 1000 {
				continue
			}
			f.N, f.Classes = 300, 30
			p := f.Problem(seed)
			m := model.Compile(p)
			r := relax.New(m, relax.KindsOf(m), m.Charge)
			r.Ascend()
			x := NewPacker(m).Mix(r.Narrow(relax.MaxHostExcess), 0.1, problem.DefaultSteps)
			if x == nil {
				continue
			}
			if wrong := problems.Check(p, m.Answer(p, x)); len(wrong) > 0 {
				t.Errorf("%s, seed %d: %v", f.Name, seed, wrong[:min(5, len(wrong))])
			}
			if slices.ContainsFunc(x.Left, func(n int) bool { return n > 0 }) {
				t.Errorf("%s, seed %d: %v are left", f.Name, seed, x.Left)
			}
		}
	}
}
