package enact

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		"Unbound":   {why: "It waits to be bound.", pod: func(p *world.Pod) { p.Node = "" }, want: true},
		"Gone":      {why: "It is there no more.", going: true, pod: func(p *world.Pod) { p.Name = "another" }},
		"GoneSince": {why: "It is there no more, and no plan knows it.", going: true, pod: func(p *world.Pod) { p.Name = "another" }, next: &plan.Plan{}},
		"Static":    {why: "What is of the node itself does not go elsewhere.", going: true, pod: func(p *world.Pod) { p.Static = true }},
		"NoNode":    {why: "Its node is gone, and it with it.", pod: func(p *world.Pod) { p.Node = "unknown" }},
		"EndsElse":  {why: "The next plan has another place for what comes after it.", going: true, pod: func(p *world.Pod) { p.Terminating = true }, next: &plan.Plan{Filled: []plan.Fill{{Node: "other", Pods: []world.Key{pod}}}}},
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

// Before the first plan nothing is known to be unneeded, unless no pod waits.
func TestPlannedBeforeThereIsAPlan(t *testing.T) {
	for name, tc := range map[string]struct {
		why     string
		waiting bool
		plan    bool
		want    bool
	}{
		"Waits":   {"A plan that was made before the process began may send it to any machine.", true, false, false},
		"None":    {"No pod waits, so none is on its way.", false, false, true},
		"Planned": {"The plan says where it goes.", true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			if err := b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "web"}, Node: map[bool]string{false: "n"}[tc.waiting], Waiting: tc.waiting}); err != nil {
				t.Fatal(err)
			}
			var targets Targets
			if tc.plan {
				targets.set(plan.Plan{}, nil)
			}
			if _, known := targets.Planned(b.Snapshot(1)); known != tc.want {
				t.Errorf("known: %t, want %t: %s", known, tc.want, tc.why)
			}
		})
	}
}

// What pods are on their way to each machine is told by the last plan; until there is one, by the claims.
func TestFills(t *testing.T) {
	key := func(name string) world.Key { return world.Key{Namespace: "d", Name: name} }
	b := world.NewBuilder()
	if err := errors.Join(
		b.SetClaim(world.Claim{Name: "alone", Pods: []world.Key{key("before")}}), b.SetClaim(world.Claim{Name: "claim", ProviderID: "i"}), b.SetNode(world.Node{Name: "node", ProviderID: "i"}), b.SetNode(world.Node{Name: "own"}),
	); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		why  string
		plan *plan.Plan
		want []plan.Fill
	}{
		"NoPlan":  {"Claims carry the pods that they were made for.", nil, []plan.Fill{{Claim: "alone", Pods: []world.Key{key("before")}}}},
		"Nothing": {"The plan sends no pod anywhere.", &plan.Plan{}, nil},
		"ByNode": {
			"The plan may know a machine by its node, and one that has none by its claim.",
			&plan.Plan{Filled: []plan.Fill{{Node: "node", Pods: []world.Key{key("a")}}, {Claim: "alone", Pods: []world.Key{key("b")}}, {Node: "own", Pods: []world.Key{key("c")}}}},
			[]plan.Fill{{Claim: "alone", Pods: []world.Key{key("b")}}, {Node: "node", Claim: "claim", Pods: []world.Key{key("a")}}, {Node: "own", Pods: []world.Key{key("c")}}},
		},
		"ByClaim": {"A plan from before it joined knows its claim only.", &plan.Plan{Filled: []plan.Fill{{Claim: "claim", Pods: []world.Key{key("a")}}}}, []plan.Fill{{Node: "node", Claim: "claim", Pods: []world.Key{key("a")}}}},
	} {
		t.Run(name, func(t *testing.T) {
			var targets Targets
			if tc.plan != nil {
				targets.set(*tc.plan, nil)
			}
			got := targets.fills(b.Snapshot(1))
			slices.SortFunc(got, func(a, b plan.Fill) int { return strings.Compare(a.Claim+a.Node, b.Claim+b.Node) })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
		})
	}
}
