package disrupt_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/controller/disrupt"
)

func TestNext(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	empty := plan.Plan{Back: []plan.Give{{Claim: "a", Node: "a", Reason: "Empty"}}}
	tests := map[string]struct {
		why               string
		tainted, deleting bool
		plan              plan.Plan
		marked            map[string]time.Time
		want              []disrupt.Step
		wait              time.Duration
	}{
		"First":  {why: "New pods are kept away before anything ends.", plan: empty, want: []disrupt.Step{{Kind: disrupt.Mark, Claim: "a", Node: "a", Reason: "Empty"}}},
		"Hold":   {why: "A pod may have been bound just before.", tainted: true, plan: empty, marked: map[string]time.Time{"a": now.Add(-time.Second)}, wait: time.Second},
		"Second": {why: "It is still empty.", tainted: true, plan: empty, marked: map[string]time.Time{"a": now.Add(-2 * time.Second)}, want: []disrupt.Step{{Kind: disrupt.End, Claim: "a", Node: "a", Reason: "Empty"}}},
		"Anew":   {why: "A controller that starts anew waits as well.", tainted: true, plan: empty, wait: 2 * time.Second},
		"Stays":  {why: "A pod came after all, or the plan was of a controller that crashed.", tainted: true, want: []disrupt.Step{{Kind: disrupt.Unmark, Claim: "a", Node: "a"}}},
		"Going":  {why: "A node that is being deleted keeps its mark.", tainted: true, deleting: true},
		"Expired": {
			why: "What is too old goes at once.", plan: plan.Plan{Back: []plan.Give{{Claim: "a", Node: "a", Reason: "Expired"}}},
			want: []disrupt.Step{{Kind: disrupt.End, Claim: "a", Node: "a", Reason: "Expired"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			n := world.Node{Name: "a", Claim: "a", Deleting: tc.deleting}
			if tc.tainted {
				n.Taints = []world.Taint{{Key: v1.TaintDisrupted, Effect: world.NoSchedule}}
			}
			if err := b.SetNode(n); err != nil {
				t.Fatal(err)
			}
			if err := b.SetClaim(world.Claim{Name: "a"}); err != nil {
				t.Fatal(err)
			}
			steps, wait := disrupt.Next(b.Snapshot(now.Unix()), tc.plan, tc.marked, now)
			if diff := cmp.Diff(tc.want, steps); diff != "" || wait != tc.wait {
				t.Errorf("%s wait %v, want %v; steps -want +got\n%s", tc.why, wait, tc.wait, diff)
			}
		})
	}
}

// Pods that have just begun to wait are a reason not to look yet; those that nobody can place are none.
func TestSettled(t *testing.T) {
	const now = 1_000_000
	for name, tc := range map[string]struct {
		why   string
		pod   *world.Pod
		claim *world.Claim
		want  bool
	}{
		"Still":    {why: "Nothing waits.", want: true},
		"Fresh":    {why: "Nobody knows yet where it goes.", pod: &world.Pod{Waiting: true, Created: now - 5}},
		"Binding":  {why: "It is being bound.", pod: &world.Pod{Created: now - 1}, want: true},
		"Refused":  {why: "It has no place anyway.", pod: &world.Pod{Waiting: true, Created: now - 60}, want: true},
		"Coming":   {why: "It is on its way to a node.", pod: &world.Pod{Waiting: true, Created: now - 60, Planned: "n"}},
		"Gated":    {why: "Nobody may place it.", pod: &world.Pod{Waiting: true, Gated: true, Created: now}, want: true},
		"Asked":    {why: "A machine has just been asked for.", claim: &world.Claim{Created: now - 10}},
		"Hopeless": {why: "It does not come.", claim: &world.Claim{Created: now - 100}, want: true},
		"Launched": {why: "It is on its way.", claim: &world.Claim{Created: now - 10, ProviderID: "id"}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			if tc.pod != nil {
				tc.pod.Key = world.Key{Namespace: "d", Name: "p"}
				if err := b.SetPod(*tc.pod); err != nil {
					t.Fatal(err)
				}
			}
			if tc.claim != nil {
				tc.claim.Name = "c"
				if err := b.SetClaim(*tc.claim); err != nil {
					t.Fatal(err)
				}
			}
			if got := disrupt.Settled(b.Snapshot(now)); got != tc.want {
				t.Errorf("%t, want %t: %s", got, tc.want, tc.why)
			}
		})
	}
}
