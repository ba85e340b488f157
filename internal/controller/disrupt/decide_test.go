package disrupt_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	engine "github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/controller/disrupt"
)

func TestSteps(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		why               string
		tainted, deleting bool
		pod, old          bool
		marked            map[string]time.Time
		want              []disrupt.Step
		wait              time.Duration
	}{
		"First":  {why: "New pods are kept away before anything ends.", want: []disrupt.Step{{Kind: disrupt.Mark, Claim: "a", Node: "a", Reason: "Empty", First: true}}},
		"Hold":   {why: "A pod may have been bound just before.", tainted: true, marked: map[string]time.Time{"a": now.Add(-time.Second)}, wait: time.Second},
		"Second": {why: "It is still empty.", tainted: true, marked: map[string]time.Time{"a": now.Add(-2 * time.Second)}, want: []disrupt.Step{{Kind: disrupt.End, Claim: "a", Node: "a", Reason: "Empty", First: true}}},
		"Anew":   {why: "A controller that starts again waits as well.", tainted: true, wait: 2 * time.Second},
		"Stays":  {why: "A pod came after all, or the plan was of a controller that crashed.", tainted: true, pod: true, want: []disrupt.Step{{Kind: disrupt.Unmark, Claim: "a", Node: "a", First: true}}},
		"Going":  {why: "A node that is being deleted keeps its mark.", tainted: true, deleting: true},
		"Expired": {
			why: "What is too old goes at once.", old: true,
			want: []disrupt.Step{{Kind: disrupt.End, Claim: "a", Node: "a", Reason: "Expired", First: true}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			id, none := world.PoolID{Kind: world.NodePool, Name: "p"}, int64(0)
			n := world.Node{Name: "a", Claim: "a", Pool: id, Deleting: tc.deleting, Ready: true}
			if tc.tainted {
				n.Taints = []world.Taint{{Key: v1.TaintDisrupted, Effect: world.NoSchedule}}
			}
			c := world.Claim{Name: "a", Node: "a", Pool: id, Initialized: true}
			if tc.old {
				c.ExpireAfter = 60
			}
			errs := []error{b.SetNode(n), b.SetClaim(c), b.SetPool(world.Pool{ID: id, Disruption: world.PoolDisruption{EmptyAfter: &none}})}
			if tc.pod {
				errs = append(errs, b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "web"}, Node: "a"}))
			}
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			w := b.Snapshot(now.Unix())
			known := map[string]int64{}
			for node, since := range tc.marked {
				known[node] = now.Sub(since).Milliseconds()
			}
			steps, wait := disrupt.Steps(w, engine.Decide(w, engine.Options{Only: []engine.Part{engine.Judging, engine.Idling}, Marked: known}))
			if diff := cmp.Diff(tc.want, steps); diff != "" || wait != tc.wait {
				t.Errorf("%s wait %v, want %v; steps -want +got\n%s", tc.why, wait, tc.wait, diff)
			}
		})
	}
}
