package scenario_test

import (
	"testing"

	"github.com/tenon-sh/tenon/bench/ours"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/enginetest/families"
	"github.com/tenon-sh/tenon/engine/provision"
)

// TestOf holds that a World of every family that is written as objects and read again is decided as the World itself: as much is placed,
// for as much money.
func TestOf(t *testing.T) {
	for _, f := range families.All() {
		t.Run(f.Name, func(t *testing.T) {
			w := f.World(60, 3)
			in, err := scenario.Of(w)
			if err != nil {
				t.Fatal(err)
			}
			out, err := ours.Run(in, *w.Catalogs()[0], provision.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p := provision.Decide(w, provision.Options{})
			cost := 0.0
			for _, a := range p.New {
				cost += a.Price.Units()
			}
			if out.Cost()-cost > 1e-6 || cost-out.Cost() > 1e-6 || len(out.New) != len(p.New) || len(out.Refused) != len(p.Refused) || out.Placed()+len(out.Refused) != len(w.Waiting()) {
				t.Errorf("written and read again: %d machines for %v, %d placed, %d refused; the World itself: %d for %v, %d refused, of %d pods",
					len(out.New), out.Cost(), out.Placed(), len(out.Refused), len(p.New), cost, len(p.Refused), len(w.Waiting()))
			}
		})
	}
}
