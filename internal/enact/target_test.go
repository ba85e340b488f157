package enact

import (
	"errors"
	"slices"
	"testing"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// A machine is planned for as long as a pod has yet to leave another for it: while
// the pod waits to be evicted, and while it ends, when what is made in its place may
// not be there yet, whatever is planned meanwhile.
func TestPlannedForPodsThatLeave(t *testing.T) {
	pod := world.Key{Namespace: "d", Name: "web-1"}
	for name, tc := range map[string]struct {
		why   string
		going bool // its machine
		pod   func(*world.Pod)
		next  *plan.Plan // made since; nil: none
		want  bool
	}{
		"Waits":     {why: "It waits to be evicted.", going: true, pod: func(*world.Pod) {}, want: true},
		"Stays":     {why: "Its machine does not go.", pod: func(*world.Pod) {}},
		"Ends":      {why: "It was evicted and ends.", going: true, pod: func(p *world.Pod) { p.Terminating = true }, want: true},
		"Replanned": {why: "A plan was made before there was another pod.", going: true, pod: func(p *world.Pod) { p.Terminating = true }, next: &plan.Plan{}, want: true},
		"Elsewhere": {why: "The next plan sends it elsewhere.", going: true, pod: func(*world.Pod) {}, next: &plan.Plan{Filled: []plan.Fill{{Node: "other", Pods: []world.Key{pod}}}}},
		"Unplanned": {why: "The next plan sends it nowhere.", going: true, pod: func(*world.Pod) {}, next: &plan.Plan{}},
		"Killed":    {why: "It ends on a machine that stays.", pod: func(p *world.Pod) { p.Terminating = true }, next: &plan.Plan{}},
		"Daemon":    {why: "What is of the machine does not go elsewhere.", going: true, pod: func(p *world.Pod) { p.DaemonSet = "log" }},
		"Done":      {why: "It has come to its end.", going: true, pod: func(p *world.Pod) { p.Done = true }},
	} {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			p := world.Pod{Key: pod, UID: "1", Node: "old"}
			tc.pod(&p)
			if err := errors.Join(b.SetNode(world.Node{Name: "old", Ready: true, Deleting: tc.going}), b.SetNode(world.Node{Name: "new", Ready: true}), b.SetPod(p)); err != nil {
				t.Fatal(err)
			}
			var targets Targets
			targets.set(plan.Plan{Filled: []plan.Fill{{Node: "new", Pods: []world.Key{pod}}}}, nil)
			if tc.next != nil {
				targets.set(*tc.next, nil)
			}
			for range 2 {
				if got, _ := targets.Planned(b.Snapshot(1)); slices.Contains(got, "new") != tc.want {
					t.Errorf("planned for are %v: %s", got, tc.why)
				}
			}
		})
	}
}
