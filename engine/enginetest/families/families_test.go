package families_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/enginetest/families"
	"github.com/tenon-sh/tenon/engine/provision"
)

// Plans for Worlds of every family can be bound, keep limits, refuse only what finds no place, and cost no less than the bound.
func TestPlansAreValid(t *testing.T) {
	for _, f := range families.All() {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%s-%d", f.Name, seed), func(t *testing.T) {
				t.Parallel()
				w := f.World(120, seed)
				p := provision.Decide(w, provision.Options{Steps: 100_000})
				if faults := enginetest.Check(w, p); len(faults) > 0 {
					t.Errorf("%s\n%s", strings.Join(faults[:min(len(faults), 10)], "\n"), p)
				}
				if p.Bound > p.Expected() {
					t.Errorf("the bound %d is above the cost %d", p.Bound, p.Expected())
				}
			})
		}
	}
}

// Where sizes have a heavy tail and CPU and memory do not go together, plans are near the bound: hosts that are filled one
// after the other, each with the best of what is left, come to 1.050 of it here.
func TestHeavyTailsAreNearTheBound(t *testing.T) {
	f, _ := families.Find("lognormal")
	p := provision.Decide(f.World(4000, 2), provision.Options{Charge: -1})
	if ratio := float64(p.Expected()) / float64(p.Bound); ratio > 1.025 {
		t.Errorf("the plan costs %.4f of the bound:\n%s", ratio, p)
	}
}

// The same seed gives the same World, and another one another.
func TestWorldsRepeat(t *testing.T) {
	for _, f := range families.All() {
		a, b, c := f.World(40, 1), f.World(40, 1), f.World(40, 2)
		if a.Digest() != b.Digest() || a.Digest() == c.Digest() {
			t.Errorf("%s: %s, %s and %s are the digests of seeds 1, 1 and 2", f.Name, a.Digest(), b.Digest(), c.Digest())
		}
	}
}
