package disrupt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

func TestBlocked(t *testing.T) {
	id := world.PoolID{Kind: world.NodePool, Name: "p"}
	none, some := []world.Budget{{Nodes: "0%"}}, []world.Budget{{Nodes: "10%"}}
	one := 1
	tests := map[string]struct {
		why   string
		pool  world.Pool
		node  world.Node
		young bool
		pod   *world.Pod
		pools []string
		kept  []string
	}{
		"Closed":    {why: "Its budget lets nothing go.", pool: world.Pool{Disruption: world.PoolDisruption{Budgets: none}}, pools: []string{"p"}},
		"Open":      {why: "A share of few is one at least.", pool: world.Pool{Disruption: world.PoolDisruption{Budgets: some}}},
		"Nothing":   {why: "There is nothing to let go.", pool: world.Pool{Disruption: world.PoolDisruption{Budgets: none}}, young: true},
		"Going":     {why: "What goes already is no matter.", pool: world.Pool{Disruption: world.PoolDisruption{Budgets: none}}, node: world.Node{Deleting: true}},
		"Older":     {why: "Of a Provisioner nothing is said.", pool: world.Pool{ID: world.PoolID{Kind: world.Provisioner, Name: "p"}, Disruption: world.PoolDisruption{Budgets: none}}},
		"Young":     {why: "Of what is not complete it is not said either.", node: world.Node{DoNotDisrupt: true}, young: true},
		"Static":    {why: "A static pool gives nothing back anyway.", pool: world.Pool{Replicas: &one, Disruption: world.PoolDisruption{Budgets: none}}},
		"Forbidden": {why: "The node says that it stays.", node: world.Node{DoNotDisrupt: true}, kept: []string{"n"}},
		"Daemon":    {why: "So does a daemon on it.", pod: &world.Pod{DaemonSet: "d", Disruption: world.PodDisruption{Forbidden: true}}, kept: []string{"n"}},
		"Used":      {why: "A node that is used needs no other reason.", node: world.Node{DoNotDisrupt: true}, pod: &world.Pod{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			if tc.pool.ID.Name == "" {
				tc.pool.ID = id
			}
			id := tc.pool.ID
			tc.node.Name, tc.node.Claim, tc.node.Pool = "n", "c", id
			errs := []error{b.SetPool(tc.pool), b.SetNode(tc.node), b.SetClaim(world.Claim{Name: "c", Pool: id, Initialized: !tc.young})}
			if tc.pod != nil {
				tc.pod.Name, tc.pod.Node = "pod", "n"
				errs = append(errs, b.SetPod(*tc.pod))
			}
			for _, err := range errs {
				if err != nil {
					t.Fatal(err)
				}
			}
			w := b.Snapshot(1000)
			var pools, kept []string
			for _, p := range disrupt.Closed(w) {
				pools = append(pools, p.ID.Name)
			}
			for _, k := range disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Idling}}).Kept {
				if k.Why.Code == reason.DoNotDisrupt && k.Reason == plan.Empty {
					kept = append(kept, k.Node)
				}
			}
			if diff := cmp.Diff([][]string{tc.pools, tc.kept}, [][]string{pools, kept}); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}
