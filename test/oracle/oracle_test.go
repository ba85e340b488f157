package oracle

import (
	"flag"
	"testing"

	"github.com/tenon-sh/tenon/engine/provision"
)

//nolint:gochecknoglobals // flags of the test program
var (
	worlds = flag.Int("worlds", 150, "how many made-up clusters to plan for")
	first  = flag.Uint64("seed", 1, "the first cluster's seed")

	races    = flag.Int("races", 1, "how many clusters to bind pods of while their nodes get ready one by one")
	size     = flag.Int("pods", 150, "how many pods each of them has")
	hostile  = flag.Bool("hostile", false, "whether they are made up like those of -worlds instead of as people have them")
	within   = flag.Int64("within", 30, "in how many seconds machines join that were bought at the same time")
	hold     = flag.Int64("hold", 20, "how many seconds a machine that has joined may be kept closed to pods")
	together = flag.Int("together", 0, "how many machines join at a time, long after each other, instead of each in its own time")
	steps    = flag.Bool("steps", false, "whether to tell of every step of a race")
	nominate = flag.Bool("nominate", true, "whether pods are nominated for the nodes that they are planned for")
)

// Every placement of a plan is one that kube-scheduler's filters accept in some
// order, and no pod is refused that they would accept anywhere.
func TestPlansAreRight(t *testing.T) {
	oracle := converse(t)
	placed := 0
	for seed := *first; seed < *first+uint64(*worlds); seed++ { //nolint:gosec // a small number
		c := generate(seed)
		w, err := c.world()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		p := provision.Decide(w, provision.Options{})
		v, err := oracle.Ask(c.ask("", p))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		placed += v.Placed
		if len(v.Wrong)+len(v.Possible) > 0 {
			t.Errorf("seed %d:\n  refused by the scheduler: %q\n  refused by us, possible: %q\n%s", seed, v.Wrong, v.Possible, p.Text(true))
		}
	}
	if placed == 0 {
		t.Errorf("no pod was placed in %d plans", *worlds)
	}
	t.Logf("%d plans, %d placements accepted", *worlds, placed)
}
