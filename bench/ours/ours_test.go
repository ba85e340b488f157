package ours_test

import (
	"encoding/json"
	"testing"

	"github.com/tenon-sh/tenon/bench/check"
	"github.com/tenon-sh/tenon/bench/market"
	"github.com/tenon-sh/tenon/bench/ours"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/provision"
)

// TestValid holds that a small world of every kind is decided as the checker
// allows, with every pod placed, and the same way twice.
func TestValid(t *testing.T) {
	catalog, err := market.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenario.All() {
		t.Run(s.Name, func(t *testing.T) {
			in := s.Make(catalog, 120, 7)
			var first string
			for range 2 {
				out, err := ours.Run(in, catalog, provision.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if found := check.Outcome(in, catalog, out); len(found.Faults) > 0 || out.Placed() != 120 {
					t.Errorf("placed %d of 120, refused %v, faults %q", out.Placed(), out.Refused, found.Faults)
				}
				if out.Bound > out.Cost()+1e-6 {
					t.Errorf("bound %v is above cost %v", out.Bound, out.Cost())
				}
				text, err := json.Marshal([]any{out.New, out.Fills})
				if err != nil {
					t.Fatal(err)
				}
				if first != "" && string(text) != first {
					t.Error("the second plan differs from the first")
				}
				first = string(text)
			}
		})
	}
}
