package hold_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
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
