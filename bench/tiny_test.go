package main

import (
	"testing"

	"github.com/tenon-sh/tenon/bench/market"
	"github.com/tenon-sh/tenon/bench/ours"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/provision"
)

// TestOptimum holds that nothing is cheaper than the optimum, and that one pod
// costs just the cheapest machine that takes it.
func TestOptimum(t *testing.T) {
	catalog, err := market.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, _ := scenario.Find("tiny")
	for seed := uint64(1); seed <= 6; seed++ {
		in := s.Make(catalog, 2*int(seed)-1, seed) //nolint:gosec // a dozen at most
		out, err := ours.Run(in, catalog, provision.Options{})
		if err != nil {
			t.Fatal(err)
		}
		least := optimum(in, catalog).Units()
		if len(out.Refused) > 0 || out.Cost() < least-1e-9 || out.Cost() > 1.1*least || seed == 1 && out.Cost() > least+1e-9 {
			t.Errorf("seed %d: cost %f, optimum %f, refused %v", seed, out.Cost(), least, out.Refused)
		}
	}
}
