package disrupt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/after"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// inhabitants writes each machine with what runs there, in order.
func inhabitants(w *world.World) string {
	var out []string
	for _, p := range w.Places() {
		line := p.Name()
		for _, pod := range p.Pods {
			line += " " + pod.Name
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

// What goes on is as if it were done: machines are bought and end, pods are where they are to go. What waits or is taken back changes nothing.
func TestAfter(t *testing.T) {
	key := func(name string) world.Key { return world.Key{Namespace: "default", Name: name} }
	give := func(node, why string) []plan.Give { return []plan.Give{{Claim: node, Node: node, Reason: why}} }
	to := func(node string, pods ...string) []plan.Fill {
		f := plan.Fill{Node: node}
		for _, p := range pods {
			f.Pods = append(f.Pods, key(p))
		}
		return []plan.Fill{f}
	}
	ask := plan.Ask{
		Name: "x1", Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Template: "t", Shape: "large", Zone: "a", CapacityType: label.OnDemand,
		Labels: map[string]string{"team": "web"}, Pods: []world.Key{key("a")},
	}
	daemon := func(e *editor) {
		e.must(e.SetPod(world.Pod{Key: key("log"), DaemonSet: "default/log", Node: "n1"}))
	}
	for name, tc := range map[string]struct {
		why  string
		do   plan.Command
		want string
	}{
		"Moved":     {"Its pod runs elsewhere, its daemon nowhere.", plan.Command{Reason: plan.Underutilized, Verdict: plan.Begin, Back: give("n1", plan.Underutilized), Moves: to("n2", "a")}, "n2 a b; n3 c"},
		"Carried":   {"What has begun goes as well.", plan.Command{Reason: plan.Underutilized, Verdict: plan.CarryOn, Begun: true, Back: give("n1", plan.Underutilized), Moves: to("n2", "a")}, "n2 a b; n3 c"},
		"Bought":    {"Its pod runs on what was bought.", plan.Command{Reason: plan.Drifted, Verdict: plan.Begin, Back: give("n1", plan.Drifted), New: []plan.Ask{ask}}, "n2 b; n3 c; x1 a"},
		"Waits":     {"Nothing is done.", plan.Command{Reason: plan.Drifted, Verdict: plan.Wait, Back: give("n1", plan.Drifted), New: []plan.Ask{ask}}, "n1 a log; n2 b; n3 c"},
		"TakenBack": {"Nothing is done.", plan.Command{Reason: plan.Drifted, Verdict: plan.TakeBack, Begun: true, Back: give("n1", plan.Drifted)}, "n1 a log; n2 b; n3 c"},
		"Marked":    {"What is empty goes in any case, once its mark is known.", plan.Command{Reason: plan.Empty, Verdict: plan.Wait, Begun: true, Back: give("n1", plan.Empty)}, "n2 b; n3 c"},
	} {
		t.Run(name, func(t *testing.T) {
			w := told(t, town, daemon)
			next, err := after.Plan(w, plan.Plan{Commands: []plan.Command{tc.do}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, inhabitants(next)); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
			if next.Pod(key("log")) != nil && next.Place("n1") == nil {
				t.Errorf("%s A daemon is left of a node that has ended", tc.why)
			}
			if next.Pod(key("a")) == nil {
				t.Errorf("%s A pod that is created again is lost", tc.why)
			}
		})
	}
}

// What was bought joins as what it was planned as.
func TestAfterJoins(t *testing.T) {
	w := told(t, town)
	ask := plan.Ask{
		Name: "x1", Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Template: "t", Shape: "large", Zone: "a", CapacityType: label.OnDemand,
		Labels: map[string]string{"team": "web"}, Taints: []world.Taint{{Key: "team", Effect: world.NoSchedule}},
	}
	next, err := after.Plan(w, plan.Plan{Commands: []plan.Command{{Reason: plan.Drifted, Verdict: plan.Begin, New: []plan.Ask{ask}}}})
	if err != nil {
		t.Fatal(err)
	}
	x := next.Place("x1")
	if x == nil || !x.Whole() || !x.Node.Ready || x.Claim == nil {
		t.Fatalf("it has not joined: %+v", x)
	}
	shapes := w.CatalogFor(ask.Pool, ask.Template).Shapes
	s := shapes[slices.IndexFunc(shapes, func(s world.Shape) bool { return s.Name == "large" })]
	if x.Node.Allocatable.String() != s.Allocatable().String() || !slices.Equal(x.Node.Taints, ask.Taints) {
		t.Errorf("it joined with %v and %v", x.Node.Allocatable, x.Node.Taints)
	}
	for key, want := range map[string]string{
		label.InstanceType: "large", label.Zone: "a", label.CapacityType: label.OnDemand, label.Hostname: "x1", "team": "web", label.Initialized: "true",
	} {
		if got := x.Node.Labels[key]; got != want {
			t.Errorf("its label %s is %q, want %q", key, got, want)
		}
	}
	if o, known := plan.OfferOf(next, x); !known || o.CapacityType != label.OnDemand {
		t.Errorf("it is none of what is on sale: %+v", o)
	}
}

// Nothing is moved to or from a machine to which something came less than fifteen seconds ago.
func TestCalm(t *testing.T) {
	for ago, want := range map[int64]plan.Verdict{disrupt.Calm: plan.Begin, disrupt.Calm - 1: plan.Wait} {
		w := told(t, town, claim(drifted, "n1"), claim(func(c *world.Claim) { c.LastPodEvent = now - ago }, "n1"))
		p := disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}})
		if len(p.Commands) != 1 || p.Commands[0].Verdict != want {
			t.Errorf("%d s after a pod came: %+v, want %s", ago, p.Commands, want)
		}
		if again := map[plan.Verdict]int64{plan.Begin: 0, plan.Wait: now + 1}[want]; p.Again != again {
			t.Errorf("%d s after a pod came it is decided again at %d, want %d", ago, p.Again, again)
		}
	}
}
