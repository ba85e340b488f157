package hold_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// However often it is asked between machines that are given back, a book counts as one that was asked last only.
func TestRoomCountsWhatIsGiven(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		b := world.NewBuilder()
		pools := []world.Pool{
			{ID: world.PoolID{Kind: world.NodePool, Name: "a"}, Template: "t", Disruption: world.PoolDisruption{Budgets: []world.Budget{{Nodes: "50%"}}}},
			{ID: world.PoolID{Kind: world.NodePool, Name: "b"}, Template: "t", Disruption: world.PoolDisruption{Budgets: []world.Budget{{Nodes: "2"}}}},
		}
		for _, p := range pools {
			if err := b.SetPool(p); err != nil {
				t.Fatal(err)
			}
		}
		for i := range rapid.IntRange(1, 12).Draw(t, "nodes") {
			pool, claim, node := rapid.SampledFrom(pools).Draw(t, "pool").ID, fmt.Sprintf("c%d", i), fmt.Sprintf("n%d", i)
			c := world.Claim{Name: claim, Node: node, Pool: pool, Initialized: rapid.Bool().Draw(t, "initialized"), Deleting: rapid.Bool().Draw(t, "deleting")}
			if err := b.SetClaim(c); err != nil {
				t.Fatal(err)
			}
			if err := b.SetNode(world.Node{Name: node, Claim: claim, Pool: pool, Ready: rapid.Bool().Draw(t, "ready")}); err != nil {
				t.Fatal(err)
			}
		}
		w := b.Snapshot(100)
		book := hold.Open(w, nil)
		var given []*world.Place
		for _, p := range w.Places() {
			for _, pool := range w.Pools() {
				last := hold.Open(w, nil)
				for _, g := range given {
					last.Give(g)
				}
				if got, want := book.Room(pool, "Empty"), last.Room(pool, "Empty"); got != want {
					t.Fatalf("pool %s after %d were given: %+v, want %+v", pool.ID.Name, len(given), got, want)
				}
			}
			if rapid.Bool().Draw(t, "give") {
				book.Give(p)
				book.Give(p) // twice counts once
				given = append(given, p)
			}
		}
	})
}

// Budgets count machines that are complete; those that go or are not ready take of what may go.
func TestCounted(t *testing.T) {
	for name, tc := range map[string]struct {
		why    string
		change func(*scene)
		want   hold.Room
	}{
		"Well":     {"It counts.", func(*scene) {}, hold.Room{Machines: 1, Allowed: 1}},
		"Starting": {"It is not complete.", func(s *scene) { s.claim.Initialized = false }, hold.Room{}},
		"Foreign":  {"It is no machine of ours.", func(s *scene) { s.claim, s.node.Claim = nil, "" }, hold.Room{}},
		"Deleting": {"It goes.", func(s *scene) { s.claim.Deleting = true }, hold.Room{Machines: 1, Going: 1, Allowed: 1}},
		"Unready":  {"It is not ready.", func(s *scene) { s.node.Ready = false }, hold.Room{Machines: 1, Going: 1, Allowed: 1}},
		"Nodeless": {"Its node is gone, which says nothing of the machine.", func(s *scene) { unjoined(s); s.claim.Initialized = true }, hold.Room{Machines: 1, Allowed: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			book, _ := tell(t, tc.change)
			pool := &world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "p"}, Disruption: world.PoolDisruption{Budgets: []world.Budget{{Nodes: "100%"}}}}
			if diff := cmp.Diff(tc.want, book.Room(pool, plan.Empty)); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// What goes already is taken off what may go, and never more than that.
func TestLeft(t *testing.T) {
	for room, want := range map[hold.Room]int{{Allowed: 3}: 3, {Going: 1, Allowed: 3}: 2, {Going: 3, Allowed: 3}: 0, {Going: 5, Allowed: 3}: 0} {
		if got := room.Left(); got != want {
			t.Errorf("of %+v %d may go, want %d", room, got, want)
		}
	}
}
