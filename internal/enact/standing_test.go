package enact

import (
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Pods are nominated for nodes that are there, stay, and take pods; and kube-scheduler is
// reminded of pods that wait for nodes that are complete beside.
func TestWhichNodesPodsAreNominatedFor(t *testing.T) {
	key := world.Key{Namespace: "d", Name: "web"}
	closed := []world.Taint{{Key: v1.TaintUnregistered, Effect: world.NoExecute}}
	for name, tc := range map[string]struct {
		why             string
		node            *world.Node
		claim           *world.Claim
		stands, reminds bool
	}{
		"Own":      {"It is of no pool.", &world.Node{}, nil, true, true},
		"Complete": {"It is complete.", &world.Node{}, &world.Claim{Registered: true, Initialized: true}, true, true},
		"Forming":  {"It takes pods, and others are being bound there.", &world.Node{}, &world.Claim{Registered: true}, true, false},
		"Closed":   {"It takes none yet: they are nominated when it does.", &world.Node{Taints: closed}, &world.Claim{}, false, false},
		"Leaving":  {"It is being deleted.", &world.Node{Deleting: true}, nil, false, false},
		"Ends":     {"Its claim is being deleted.", &world.Node{}, &world.Claim{Initialized: true, Deleting: true}, false, false},
		"NoNode":   {"It has not joined.", nil, &world.Claim{}, false, false},
		"Gone":     {"It is gone.", nil, nil, false, false},
		"Lost":     {"Its node was complete, and is gone.", nil, &world.Claim{Registered: true, Initialized: true}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			err := b.SetPod(world.Pod{Key: key, UID: "u", Waiting: true})
			if n := tc.node; n != nil {
				n.Name, n.ProviderID, n.Ready = "n", "i", true
				err = errors.Join(err, b.SetNode(*n))
			}
			if c := tc.claim; c != nil {
				c.Name, c.ProviderID, c.Launched = "n", "i", true
				err = errors.Join(err, b.SetClaim(*c))
			}
			must(t, err)
			w := b.Snapshot(1)
			fills := []plan.Fill{{Node: "n", Pods: []world.Key{key}}}
			if got := standing(w, fills); (len(got) == 1) != tc.stands {
				t.Errorf("nominated for it: %v: %s", got, tc.why)
			}
			if got := lying(nominate.NewPodCounts(w), plan.Plan{Filled: fills}); (len(got) == 1) != tc.reminds {
				t.Errorf("reminded of: %v: %s", got, tc.why)
			}
		})
	}
}

// A nomination of ours that the plan no longer has is taken back, unless its node opens
// this moment; one of another's is not ours to take. Nodes that have only just joined come
// first, and what is so already is not written.
func TestWhichNominationsChange(t *testing.T) {
	b := world.NewBuilder()
	pods := []world.Pod{
		{Key: world.Key{Name: "dropped"}, Nominated: "old", Promised: true},
		{Key: world.Key{Name: "theirs"}, Nominated: "old"},
		{Key: world.Key{Name: "opening"}, Nominated: "closed", Promised: true},
		{Key: world.Key{Name: "same"}, Nominated: "old", Promised: true},
		{Key: world.Key{Name: "onto-old"}},
		{Key: world.Key{Name: "onto-new"}},
		{Key: world.Key{Name: "onto-whole"}},
	}
	for _, p := range pods {
		p.Namespace, p.UID, p.Waiting = "d", p.Name, true
		must(t, b.SetPod(p))
	}
	must(t, errors.Join(b.SetNode(world.Node{Name: "whole", ProviderID: "k", Ready: true}), b.SetClaim(world.Claim{Name: "whole", ProviderID: "k", Launched: true, Registered: true, Initialized: true})))
	must(t, errors.Join(b.SetNode(world.Node{Name: "old", Ready: true}), b.SetNode(world.Node{Name: "new", ProviderID: "i", Ready: true}), b.SetClaim(world.Claim{Name: "new", ProviderID: "i", Launched: true, Registered: true}),
		b.SetNode(world.Node{Name: "closed", ProviderID: "j", Ready: true, Taints: []world.Taint{{Key: v1.TaintUnregistered, Effect: world.NoExecute}}}), b.SetClaim(world.Claim{Name: "closed", ProviderID: "j", Launched: true})))
	fill := func(node string, names ...string) plan.Fill {
		f := plan.Fill{Node: node}
		for _, n := range names {
			f.Pods = append(f.Pods, world.Key{Namespace: "d", Name: n})
		}
		return f
	}
	var got []string
	for _, p := range promises(nominate.NewPodCounts(b.Snapshot(1)), plan.Plan{Filled: []plan.Fill{fill("whole", "onto-whole"), fill("old", "same", "onto-old"), fill("new", "onto-new")}}) {
		got = append(got, p.pod.Name+" → "+p.node)
	}
	if want := []string{"dropped → ", "onto-new → new", "onto-whole → whole", "onto-old → old"}; !slices.Equal(got, want) {
		t.Errorf("written are %q, want %q", got, want)
	}
}

// A claim that has the name of one that was to be made is that one only if it has all
// that was written: another's pods would be taken to have a machine.
func TestWhoseClaimWasMade(t *testing.T) {
	meant := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{"pool": "p", "team": ""}, Annotations: map[string]string{"pods": "d/web"}}}
	for name, tc := range map[string]struct {
		change func(*v1.NodeClaim)
		want   bool
	}{
		"Same":     {func(*v1.NodeClaim) {}, true},
		"More":     {func(c *v1.NodeClaim) { c.Labels["zone"], c.Annotations["order"] = "a", "o" }, true},
		"Label":    {func(c *v1.NodeClaim) { c.Labels["pool"] = "q" }, false},
		"NoLabel":  {func(c *v1.NodeClaim) { delete(c.Labels, "pool") }, false},
		"NoEmpty":  {func(c *v1.NodeClaim) { delete(c.Labels, "team") }, false},
		"Pods":     {func(c *v1.NodeClaim) { c.Annotations["pods"] = "d/other" }, false},
		"NoPods":   {func(c *v1.NodeClaim) { c.Annotations = nil }, false},
		"Leaving":  {func(c *v1.NodeClaim) { c.Finalizers = []string{v1.Finalizer} }, false},
		"NotThere": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := counted(t)
			if tc.change != nil {
				there := meant.DeepCopy()
				tc.change(there)
				must(t, e.Client.Create(t.Context(), there))
				if len(there.Finalizers) > 0 {
					must(t, e.Client.Delete(t.Context(), there))
				}
			}
			c := meant.DeepCopy()
			if got := e.made(t.Context(), c); got != tc.want || got != (c.UID != "") {
				t.Errorf("it was made: %t, want %t; now it has UID %q", got, tc.want, c.UID)
			}
		})
	}
}

// Reminders are carried on by pod and node, become rarer, and go to few at a time, to those first that have waited longest.
func TestReminders(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(name, node string) promise {
		return promise{&world.Pod{Key: world.Key{Name: name}, UID: name, Nominated: node}, node}
	}
	var r reminders
	look := func(after time.Duration, want int, next time.Duration, why string, lying ...promise) {
		t.Helper()
		now = now.Add(after)
		due, at := r.take(lying, now)
		if at.IsZero() != (next == 0) || next > 0 && at.Sub(now) != next || len(due) != want {
			t.Errorf("%d are due, want %d, and the next look is after %s, want %s: %s", len(due), want, at.Sub(now), next, why)
		}
	}
	look(0, 0, remindAfter, "it may have been nominated only now", at("a", "n"))
	look(remindAfter-1, 0, 1, "not yet", at("a", "n"))
	look(1, 1, 2*remindAfter, "ten seconds", at("a", "n"))
	look(2*remindAfter, 1, 4*remindAfter, "twice as long", at("a", "n"))
	look(time.Second, 0, remindAfter, "it is to go to another node", at("a", "m"))
	elsewhere := at("a", "m")
	elsewhere.pod.Nominated = ""
	look(remindAfter, 0, remindAfter, "kube-scheduler has only just looked", elsewhere)
	look(time.Second, 0, 0, "it was bound")
	look(0, 0, remindAfter, "another waits, and its turn may come", at("b", "n"))
	look(time.Hour, 1, 2*remindAfter, "it has not", at("b", "n"))
	r = reminders{}
	look(0, 0, remindAfter, "both may have been nominated only now", at("a", "n"), at("b", "n"))
	look(remindAfter, 2, 2*remindAfter, "ten seconds", at("a", "n"), at("b", "n"))
	look(time.Second, 0, 2*remindAfter-time.Second, "another was bound, and its turn would come later in any case", at("a", "n"))
	r = reminders{}
	var many []promise
	for i := range remindedAtOnce + 3 {
		many = append(many, at(string(rune('A'+i)), "n"))
	}
	r.take(many[remindedAtOnce:], now)
	now = now.Add(time.Second)
	r.take(many, now)
	now = now.Add(remindAfter)
	due, next := r.take(many, now)
	if next.After(now) {
		t.Errorf("the rest is due %s later, want at once", next.Sub(now))
	}
	if len(due) != remindedAtOnce || due[0].pod.UID != many[remindedAtOnce].pod.UID {
		t.Errorf("%d are reminded of at once, first %s", len(due), due[0].pod.UID)
	}
}
