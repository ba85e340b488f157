package consolidate_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/disrupt/after"
	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// carriedOut is the World in which the plan has been carried out, its machines under names that no other plan gives.
func carriedOut(w *world.World, p plan.Plan) *world.World {
	for _, c := range p.Commands {
		for i := range c.New {
			c.New[i].Name = "new-" + p.World[:6] + "-" + c.New[i].Name
		}
	}
	next, err := after.Plan(w, p)
	if err != nil {
		panic(err)
	}
	return next
}

// A plan that has been carried out leaves little to gain, and machines never go
// round: what a second and a third plan find is less and less.
func TestPlansComeToRest(t *testing.T) {
	w := enginetest.Shrunk(2000, 7)
	o := consolidate.Options{Unbudgeted: true}
	first := decide(w, o)
	start, last := first.Price-first.Saving(), first.Saving()
	if last == 0 {
		t.Fatal("the first plan saves nothing")
	}
	for n := range 4 {
		w = carriedOut(w, decide(w, o))
		p := decide(w, o)
		t.Logf("plan %d: %d commands of %d pods save %.2f %%", n+2, len(moving(p)), p.Moved(), 100*float64(p.Saving())/float64(start))
		if p.Saving() > last {
			t.Fatalf("plan %d saves %d, the one before it %d", n+2, p.Saving(), last)
		}
		last = p.Saving()
	}
	if last > start/200 {
		t.Errorf("after five plans there are still %d of %d to gain", last, start)
	}
}

// In any small cluster a few plans come to an end: no machine is bought that the next plan gives back.
func TestNothingGoesRound(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		s := worlds().Draw(t, "world")
		w := enginetest.Settled(s.world)
		b := w.Edit()
		for _, p := range w.Pools() {
			p := *p
			p.Disruption.Budgets = nil
			if err := b.SetPool(p); err != nil {
				t.Fatal(err)
			}
		}
		w = b.Snapshot(w.At())
		buying, left := 6, 1+len(w.Places())
		for buying > 0 && left > 0 {
			p := decide(w, consolidate.Options{SpotToSpot: true})
			if p.Saving() == 0 && len(idle(p)) == 0 {
				return
			}
			if slices.ContainsFunc(p.Commands, func(c plan.Command) bool { return c.Verdict == plan.Begin && len(c.New) > 0 }) {
				buying, left = buying-1, left+len(w.Places())
			} else {
				left-- // one machine fewer at least: a budget of pods may let no more than one go at a time
			}
			w = carriedOut(w, p)
		}
		t.Fatalf("there is no end of it\n%s", s.text)
	})
}
