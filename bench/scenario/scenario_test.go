package scenario_test

import (
	"encoding/json"
	"testing"

	"github.com/tenon-sh/tenon/bench/market"
	"github.com/tenon-sh/tenon/bench/scenario"
)

// TestSame holds that a world is a function of its name, size and seed, has as
// many waiting pods as were asked for, each under a name of its own.
func TestSame(t *testing.T) {
	catalog, err := market.Load()
	if err != nil {
		t.Fatal(err)
	}
	text := func(s scenario.Scenario, seed uint64) string {
		data, err := json.Marshal(s.Make(catalog, 120, seed).Objects())
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, s := range scenario.All() {
		t.Run(s.Name, func(t *testing.T) {
			first := text(s, 1)
			if text(s, 1) != first {
				t.Error("the same seed gave another world")
			}
			if text(s, 2) == first && s.Name != "homogeneous" && s.Name != "preferences" {
				t.Error("another seed gave the same world")
			}
			in := s.Make(catalog, 120, 1)
			names := map[string]bool{}
			for _, p := range append(in.Pending, in.Bound...) {
				names[p.Namespace+"/"+p.Name] = true
			}
			if len(in.Pending) != 120 || len(names) != len(in.Pending)+len(in.Bound) {
				t.Errorf("%d pods wait, %d names for %d pods", len(in.Pending), len(names), len(in.Pending)+len(in.Bound))
			}
			if s.Name == "steady" && len(in.Bound) != 31_758 {
				t.Errorf("%d pods run, want 31,758", len(in.Bound))
			}
		})
	}
}
