package peer_test

import (
	"testing"
	"time"

	"github.com/tenon-sh/tenon/bench/check"
	"github.com/tenon-sh/tenon/bench/market"
	"github.com/tenon-sh/tenon/bench/outcome"
	"github.com/tenon-sh/tenon/bench/peer"
	"github.com/tenon-sh/tenon/bench/scenario"
)

func run(t *testing.T, name string, pods int, limit time.Duration) (outcome.Outcome, check.Report) {
	t.Helper()
	catalog, err := market.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, ok := scenario.Find(name)
	if !ok {
		t.Fatalf("no scenario %q", name)
	}
	in := s.Make(catalog, pods, 1)
	out, err := peer.Run(in, catalog, peer.Options{Workers: 1, Cap: limit})
	if err != nil {
		t.Fatal(err)
	}
	return out, check.Outcome(in, catalog, out)
}

// TestWhole holds that a pass gives every pod a verdict, and buys only what is
// sold: the world reaches the library as it is.
func TestWhole(t *testing.T) {
	for _, name := range []string{"plain", "trace", "mix", "apart"} {
		t.Run(name, func(t *testing.T) {
			out, found := run(t, name, 120, time.Minute)
			if len(found.Faults) > 0 || out.CutOff || out.Placed() != 120 {
				t.Errorf("placed %d of 120, cut off: %v, refused %v, faults %q", out.Placed(), out.CutOff, out.Refused, found.Faults)
			}
		})
	}
}

// TestCutOff holds that a pass without time is cut off, and that what it did not
// reach is said.
func TestCutOff(t *testing.T) {
	out, found := run(t, "plain", 120, 0)
	if !out.CutOff || out.Undecided != 120 || len(found.Faults) > 0 {
		t.Errorf("cut off: %v, %d left over, faults %q", out.CutOff, out.Undecided, found.Faults)
	}
}
