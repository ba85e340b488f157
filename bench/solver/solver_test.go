package solver_test

import (
	"errors"
	"testing"

	"github.com/tenon-sh/tenon/bench/solver"
)

// two large pods and three small ones, and machines that hold two of the large, or one of each.
func model() solver.Model {
	return solver.Model{
		Need: [][]int64{{4, 1}, {1, 3}}, Count: []int{2, 3}, Most: []int{2, 2},
		Room: [][]int64{{5, 7}, {8, 8}}, Cost: []float64{1, 1.7}, Slots: 5, Seconds: 10,
	}
}

// What is counted over: everything is somewhere, and nothing where it cannot be.
func TestCostOf(t *testing.T) {
	for name, tc := range map[string]struct {
		machines []solver.Machine
		want     float64
		wrong    bool
	}{
		"holds all":             {machines: []solver.Machine{{0, []int{1, 1}}, {0, []int{1, 1}}, {0, []int{0, 1}}}, want: 3},
		"one is left over":      {machines: []solver.Machine{{0, []int{1, 1}}, {0, []int{1, 1}}}, wrong: true},
		"overfull":              {machines: []solver.Machine{{0, []int{2, 0}}, {0, []int{0, 2}}, {0, []int{0, 1}}}, wrong: true},
		"too many of one":       {machines: []solver.Machine{{1, []int{2, 0}}, {1, []int{0, 3}}}, wrong: true},
		"more than are waiting": {machines: []solver.Machine{{1, []int{2, 0}}, {0, []int{0, 2}}, {0, []int{0, 2}}}, wrong: true},
	} {
		cost, err := model().CostOf(solver.Answer{Machines: tc.machines})
		if cost != tc.want || (err != nil) != tc.wrong {
			t.Errorf("%s: cost %v, error %v", name, cost, err)
		}
	}
}

// The solver finds the cheapest, and proves that.
func TestSolve(t *testing.T) {
	s, err := solver.Start(t.Context())
	if errors.Is(err, solver.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		m := model()
		a, err := s.Solve(m)
		if err != nil {
			t.Fatal(err)
		}
		cost, err := m.CostOf(a)
		if err != nil || !a.Optimal || cost < 2.699 || cost > 2.701 || a.Bound < 2.699 {
			t.Errorf("%+v costs %v, error %v; one of each machine is enough", a, cost, err)
		}
	}
	if err := s.End(); err != nil {
		t.Error(err)
	}
}
