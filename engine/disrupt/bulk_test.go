package disrupt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/engine/world"
)

// aging generates clusters of which some nodes have drifted or are too old, an hour after they joined.
func aging(t *rapid.T) (*world.World, string) {
	s := enginetest.NewScene()
	lines := enginetest.ChargedLines().Draw(t, "lines")
	for _, line := range lines {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	w := s.World()
	w = enginetest.Settled(enginetest.Bound(w, provision.Decide(w, provision.Options{Steps: 1000})))
	b := w.Edit()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	old := rapid.IntRange(0, 3).Draw(t, "aged") == 0
	for _, p := range w.Places() {
		if p.Claim == nil || rapid.IntRange(0, 3).Draw(t, "stays") == 0 {
			continue
		}
		c := *p.Claim
		if c.Drifted = "NodePoolDrifted"; old {
			c.ExpireAfter = w.At() + 3600 - c.Created - 60
		}
		must(b.SetClaim(c))
		lines = append(lines, fmt.Sprintf("# %s drifted, expires after %d", c.Name, c.ExpireAfter))
	}
	none := int64(0)
	for _, p := range w.Pools() {
		p := *p
		p.Disruption = world.PoolDisruption{EmptyAfter: &none, MoveAfter: &none}
		if n := rapid.IntRange(0, 3).Draw(t, "budget"); n > 0 {
			p.Disruption.Budgets = []world.Budget{{Nodes: fmt.Sprint(n - 1)}}
		}
		lines = append(lines, fmt.Sprintf("# %s: %+v", p.ID.Name, p.Disruption.Budgets))
		must(b.SetPool(p))
	}
	if rapid.IntRange(0, 3).Draw(t, "guarded") == 0 {
		must(b.SetGuard(world.Guard{Key: world.Key{Namespace: "default", Name: "pdb"}, Selector: world.Selector{Some: true}, Allowed: rapid.IntRange(0, 1).Draw(t, "allowed")}))
	}
	return b.Snapshot(w.At() + 3600), strings.Join(lines, "\n")
}

// However many machines are replaced at once, budgets hold, each goes by itself, and a checker that shares no rule with the
// engine finds that all of their pods have places together, none of them promised twice.
func TestReplacedTogether(t *testing.T) {
	most := 0
	chance.Check(t, func(t *rapid.T) {
		w, text := aging(t)
		p := disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}, Pack: pack.Options{Steps: 1000}})
		after, together, gone := w, plan.Plan{}, map[world.PoolID]int{}
		for _, c := range p.Commands {
			if len(c.Back) != 1 || c.Verdict != plan.Begin {
				t.Fatalf("%v: %s, %v\n%s", c.Nodes(), c.Verdict, c.Why, text)
			}
			place := w.Place(c.Back[0].Node)
			if c.Reason == plan.Drifted {
				gone[c.Back[0].Pool]++
				if h := hold.Open(w, nil).Any(place); len(h) > 0 {
					t.Fatalf("%s goes, and is kept by %v\n%s", c.Nodes(), h, text)
				}
			}
			for _, f := range c.Moves {
				if to := w.Place(f.Node).Claim; to != nil && to.Drifted != "" {
					t.Fatalf("pods of %s are to go to %s, which goes next\n%s", c.Nodes(), f.Node, text)
				}
			}
			var err error
			if after, err = suppose.Apply(after, suppose.WithoutNode(c.Back[0].Node)); err != nil {
				t.Fatal(err)
			}
			together.New, together.Filled = append(together.New, c.New...), merged(together.Filled, c.Moves)
		}
		for id, n := range gone {
			if left := hold.RoomOf(w, w.Pool(id), plan.Drifted).Left(); n > left {
				t.Fatalf("%d nodes of %s go at once, and its budgets let %d\n%s", n, id.Name, left, text)
			}
		}
		if faults := enginetest.Check(after, together); len(faults) > 0 {
			t.Fatalf("%s\n\n%s\n\n%s", strings.Join(faults, "\n"), text, p.Text(true))
		}
		most = max(most, len(p.Commands))
	})
	if most < 4 {
		t.Errorf("no more than %d nodes were replaced at once in any world", most)
	}
}

func merged(a, b []plan.Fill) []plan.Fill {
	for _, f := range b {
		if i := slices.IndexFunc(a, func(x plan.Fill) bool { return x.Node == f.Node }); i >= 0 {
			a[i].Pods = append(slices.Clip(a[i].Pods), f.Pods...)
		} else {
			a = append(a, f)
		}
	}
	return a
}

// (D-8) As many nodes as budgets let go are replaced by one decision, and what the next one decides takes up where it ended.
func TestDriftInBulk(t *testing.T) {
	w := enginetest.Drifted(enginetest.Steady(60, 0))
	b := w.Edit()
	pool := *w.Pools()[0]
	pool.Disruption.Budgets = []world.Budget{{Nodes: "20%"}}
	if err := b.SetPool(pool); err != nil {
		t.Fatal(err)
	}
	o := disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}, Pack: pack.Options{Steps: 1000}}
	p := disrupt.Decide(b.Snapshot(w.At()), o)
	if len(p.Commands) != 12 || len(p.Kept) > 0 {
		t.Fatalf("%d of 60 nodes are replaced where budgets let 12, and %d are said to be kept", len(p.Commands), len(p.Kept))
	}
	names := map[string]bool{}
	for _, a := range p.Asks() {
		names[a.Name] = true
	}
	if len(names) != len(p.Asks()) {
		t.Errorf("%d machines are asked for under %d names", len(p.Asks()), len(names))
	}
	for _, c := range p.Commands {
		claim := *w.Place(c.Back[0].Node).Claim
		claim.Going = plan.Drifted
		if err := b.SetClaim(claim); err != nil {
			t.Fatal(err)
		}
	}
	if p := disrupt.Decide(b.Snapshot(w.At()), o); len(p.Commands) > 0 || len(p.Kept) != 48 {
		t.Errorf("the budgets are used up: %d more are replaced, and %d kept", len(p.Commands), len(p.Kept))
	}
}

// No budget bounds what is too old, so that a decision does.
func TestExpiryIsBounded(t *testing.T) {
	w := enginetest.Drifted(enginetest.Steady(120, 0))
	b := w.Edit()
	for _, p := range w.Places() {
		c := *p.Claim
		c.ExpireAfter = w.At() - c.Created - 60
		if err := b.SetClaim(c); err != nil {
			t.Fatal(err)
		}
	}
	p := disrupt.Decide(b.Snapshot(w.At()), disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}, Pack: pack.Options{Steps: 1000}})
	if len(p.Commands) != 100 || p.Commands[0].Reason != plan.Expired {
		t.Errorf("%d of 120 expired nodes are replaced at once", len(p.Commands))
	}
}
