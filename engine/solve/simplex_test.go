package solve

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
)

// Poured to the end, items cost no less than at any prices of the relaxation.
func TestBasinIsAboveTheRelaxation(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		m := compile(problems(7, 12, false).Draw(t, "problem"))
		if len(m.classes) == 0 {
			return
		}
		f := newRelaxation(m, m.kinds(), m.charge)
		f.ascend()
		b := newSimplex(f)
		cost := b.solve(make([]float64, len(b.kinds)))
		if value := f.value(); cost < value-1e-3*(1+value) {
			t.Fatalf("poured it costs %f, the relaxation says %f", cost, value)
		}
		if most := float64(m.goal(m.firstFit())); cost > most*1.001+1 {
			t.Fatalf("poured it costs %f, placed %f", cost, most)
		}
		open := make([]float64, len(b.kinds))
		for p := range open {
			open[p] = 1e6
		}
		if rest := b.solve(open); rest > 1e-3*(1+cost) {
			t.Fatalf("beside any number of hosts it costs %f, want nothing", rest)
		}
	})
}
