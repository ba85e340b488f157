package world_test

import (
	"slices"
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// A pod disruption budget guards the pods of its namespace that it selects; one that lets unhealthy pods leave, the healthy ones.
func TestGuardsOf(t *testing.T) {
	b := world.NewBuilder()
	guard := func(namespace, name, app string, leave bool) world.Guard {
		g := world.Guard{Key: world.Key{Namespace: namespace, Name: name}, Selector: world.Selector{Some: true}, UnhealthyLeave: leave}
		if app != "" {
			g.Selector.Set = label.SetOf(label.Is("app", app))
		}
		return g
	}
	for _, g := range []world.Guard{
		guard("a", "all", "", false), guard("b", "web", "web", false), guard("b", "leave", "web", true), guard("b", "db", "db", false), guard("c", "all", "", false),
		{Key: world.Key{Namespace: "b", Name: "nothing"}},
	} {
		if err := b.SetGuard(g); err != nil {
			t.Fatal(err)
		}
	}
	w := b.Snapshot(1)
	for name, tc := range map[string]struct {
		why  string
		pod  world.Pod
		want []string
	}{
		"Ready":     {"Both guard it.", world.Pod{Key: world.Key{Namespace: "b"}, Labels: map[string]string{"app": "web"}, ReadyToServe: true}, []string{"b/leave", "b/web"}},
		"Unhealthy": {"One lets it leave.", world.Pod{Key: world.Key{Namespace: "b"}, Labels: map[string]string{"app": "web"}}, []string{"b/web"}},
		"Other":     {"None selects it.", world.Pod{Key: world.Key{Namespace: "b"}, Labels: map[string]string{"app": "job"}}, nil},
		"First":     {"That of its namespace does.", world.Pod{Key: world.Key{Namespace: "a"}}, []string{"a/all"}},
		"Last":      {"That of its namespace does.", world.Pod{Key: world.Key{Namespace: "c"}}, []string{"c/all"}},
		"Nowhere":   {"There is none in its namespace.", world.Pod{Key: world.Key{Namespace: "bb"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, g := range w.GuardsOf(&tc.pod) {
				got = append(got, g.String())
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s It is guarded by %v, want %v", tc.why, got, tc.want)
			}
		})
	}
}

// A pod forbids that it is moved for good, or for a time that begins when it does.
func TestForbids(t *testing.T) {
	for name, tc := range map[string]struct {
		why  string
		pod  world.Pod
		want bool
	}{
		"Free":     {"It forbids nothing.", world.Pod{Started: 10}, false},
		"Ever":     {"It forbids it for good.", world.Pod{Disruption: world.PodDisruption{Forbidden: true}}, true},
		"Now":      {"It has a second left.", world.Pod{Started: 41, Disruption: world.PodDisruption{ForbiddenFor: 60}}, true},
		"NoLonger": {"Its time is over.", world.Pod{Started: 40, Disruption: world.PodDisruption{ForbiddenFor: 60}}, false},
		"NotYet":   {"Its time has not begun.", world.Pod{Disruption: world.PodDisruption{ForbiddenFor: 60}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.pod.Forbids(100); got != tc.want {
				t.Errorf("%s It forbids it: %t", tc.why, got)
			}
		})
	}
}

// A pod ends with its Job, or with its namespace.
func TestEnds(t *testing.T) {
	b := world.NewBuilder()
	for _, n := range []world.Namespace{{Name: "going", Going: true}, {Name: "here"}} {
		if err := b.SetNamespace(n); err != nil {
			t.Fatal(err)
		}
	}
	w := b.Snapshot(1)
	for namespace, want := range map[string]bool{"going": true, "here": false, "unknown": false} {
		p := world.Pod{Key: world.Key{Namespace: namespace, Name: "a"}}
		if w.Ends(&p) != want {
			t.Errorf("a pod in the namespace %s ends: %t", namespace, !want)
		}
		if p.Ending = true; !w.Ends(&p) {
			t.Errorf("a pod in the namespace %s whose Job is over does not end", namespace)
		}
	}
}

// A pod that waits has its home where the last plan has it: on a node, a claim, or the node that this has become.
func TestHome(t *testing.T) {
	b := world.NewBuilder()
	for _, err := range []error{
		b.SetNode(world.Node{Name: "n", Claim: "c"}), b.SetClaim(world.Claim{Name: "c", Node: "n"}), b.SetClaim(world.Claim{Name: "bare"}), b.SetNode(world.Node{Name: "foreign"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := b.Snapshot(1)
	for planned, want := range map[string]string{"": "", "n": "n", "c": "n", "bare": "bare", "gone": ""} {
		got := ""
		if at := w.Home(&world.Pod{Planned: planned}); at != nil {
			got = at.Name()
		}
		if got != want {
			t.Errorf("planned for %q its home is %q, want %q", planned, got, want)
		}
	}
}
