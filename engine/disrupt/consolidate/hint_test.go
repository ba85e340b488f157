package consolidate_test

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// A pool is advised to set fields that its kind has.
func TestHintsNameFieldsOfTheKind(t *testing.T) {
	wait := int64(30)
	tests := map[string]struct {
		kind  string
		empty *int64
		want  string
	}{
		"ProvisionerEmptyOnly": {world.Provisioner, &wait, "set consolidation.enabled: true in place of ttlSecondsAfterEmpty"},
		"ProvisionerNothing":   {world.Provisioner, nil, "set consolidation.enabled: true, or ttlSecondsAfterEmpty for empty nodes alone"},
		"NodePoolEmptyOnly":    {world.NodePool, &wait, "set consolidationPolicy: WhenEmptyOrUnderutilized"},
		"NodePoolNothing":      {world.NodePool, nil, "set consolidateAfter"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			id := world.PoolID{Kind: tc.kind, Name: "p"}
			b := world.NewBuilder()
			for _, err := range []error{
				b.SetPool(world.Pool{ID: id, Disruption: world.PoolDisruption{EmptyAfter: tc.empty}}),
				b.SetNode(world.Node{Name: "n", Ready: true, Pool: id, Claim: "c", Labels: map[string]string{label.InstanceType: "m5.large"}}),
				b.SetClaim(world.Claim{Name: "c", Pool: id, Node: "n", Launched: true, Registered: true, Initialized: true}),
				b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "a"}, Node: "n"}),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			p := decide(b.Snapshot(enginetest.StageNow), consolidate.Options{})
			if len(p.Kept) != 1 || !strings.Contains(p.Kept[0].Why.String(), "→ "+tc.want) {
				t.Errorf("want the hint %q: %v", tc.want, p.Kept[0].Why)
			}
		})
	}
}
