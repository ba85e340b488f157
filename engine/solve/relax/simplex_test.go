package relax

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/enginetest/problems"
	"github.com/tenon-sh/tenon/engine/solve/firstfit"
	"github.com/tenon-sh/tenon/engine/solve/model"
)

// Poured to the end, items cost no less than at any prices of the relaxation.
func TestBasinIsAboveTheRelaxation(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		m := model.Compile(problems.Drawn(7, 12, false).Draw(t, "problem"))
		if len(m.Classes) == 0 {
			return
		}
		f := New(m, KindsOf(m), m.Charge)
		f.Ascend()
		b := NewSimplex(f)
		cost := b.Solve(make([]float64, len(b.Kinds)))
		if value := f.Value(); cost < value-1e-3*(1+value) {
			t.Fatalf("poured it costs %f, the relaxation says %f", cost, value)
		}
		if most := float64(m.Goal(firstfit.Place(m))); cost > most*1.001+1 {
			t.Fatalf("poured it costs %f, placed %f", cost, most)
		}
		open := make([]float64, len(b.Kinds))
		for p := range open {
			open[p] = 1e6
		}
		if rest := b.Solve(open); rest > 1e-3*(1+cost) {
			t.Fatalf("beside any number of hosts it costs %f, want nothing", rest)
		}
	})
}
