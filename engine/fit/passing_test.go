package fit_test

import (
	"errors"
	"testing"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// A node may be seen later than the claim that says that it is complete. Until it is, its
// taints are those of a node that joins, and no machine is bought beside it.
func TestNodesThatAreSeenLate(t *testing.T) {
	const complete = 1000
	tests := map[string]struct {
		why   string
		at    int64
		label string
		want  int // taints that count
	}{
		"Late":     {"It was not ready for long and is not seen complete yet.", complete + 5, "", 0},
		"Lost":     {"It says that it was complete, so it has stopped being ready since.", complete + 5, "true", 1},
		"Stripped": {"Nothing is that late: somebody took the label off.", complete + 61, "", 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pool := world.PoolID{Kind: world.NodePool, Name: "p"}
			labels := map[string]string{label.NodePool: "p"}
			if tc.label != "" {
				labels[label.Initialized] = tc.label
			}
			b := world.NewBuilder()
			if err := errors.Join(
				b.SetClaim(world.Claim{Name: "c", Pool: pool, Template: "t", Node: "n", ProviderID: "id", Launched: true, Registered: true, Initialized: true, InitializedAt: complete}),
				b.SetNode(world.Node{
					Name: "n", ProviderID: "id", Pool: pool, Claim: "c", Labels: labels, Unready: complete - 70,
					Taints: []world.Taint{{Key: "node.kubernetes.io/not-ready", Effect: world.NoSchedule}},
				}),
			); err != nil {
				t.Fatal(err)
			}
			w := b.Snapshot(tc.at)
			if got := fit.Of(w, w.Place("n")).Taints; len(got) != tc.want {
				t.Errorf("%s Taints %v count, want %d", tc.why, got, tc.want)
			}
		})
	}
}
