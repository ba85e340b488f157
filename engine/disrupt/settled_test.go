package disrupt_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/world"
)

// Pods that have just begun to wait are a reason not to look yet; those that cannot be placed are none.
func TestSettled(t *testing.T) {
	for name, tc := range map[string]struct {
		why   string
		pod   *world.Pod
		claim *world.Claim
		want  bool
	}{
		"Still":    {why: "Nothing waits.", want: true},
		"Fresh":    {why: "It is not known yet where it goes.", pod: &world.Pod{Waiting: true, Created: now - 5}},
		"Quiet":    {why: "It has waited long enough.", pod: &world.Pod{Waiting: true, Created: now - 15}, want: true},
		"Daemon":   {why: "Its node is known.", pod: &world.Pod{Waiting: true, Created: now - 5, DaemonSet: "log"}, want: true},
		"Ending":   {why: "It goes no more.", pod: &world.Pod{Waiting: true, Created: now - 5, Terminating: true}, want: true},
		"Binding":  {why: "It is being bound.", pod: &world.Pod{Created: now - 1}, want: true},
		"Refused":  {why: "It has no place anyway.", pod: &world.Pod{Waiting: true, Created: now - 60}, want: true},
		"Coming":   {why: "It is on its way to a node.", pod: &world.Pod{Waiting: true, Created: now - 60, Planned: "n"}},
		"Gated":    {why: "It may not be placed.", pod: &world.Pod{Waiting: true, Gated: true, Created: now}, want: true},
		"Asked":    {why: "A machine has just been asked for.", claim: &world.Claim{Created: now - 10}},
		"Hopeless": {why: "It does not come.", claim: &world.Claim{Created: now - 100}, want: true},
		"Unseen":   {why: "It may come for another second.", claim: &world.Claim{Created: now - 59}},
		"Overdue":  {why: "It had its minute.", claim: &world.Claim{Created: now - 60}, want: true},
		"Deleted":  {why: "It is not wanted any more.", claim: &world.Claim{Created: now - 10, Deleting: true}, want: true},
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
