package hold_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// A node is kept for the room that is held on it, and no virtual pod keeps it
// from going: the room may move.
func TestVirtualPodsKeepNodesAndHoldNone(t *testing.T) {
	buffer := world.Key{Namespace: "d", Name: "web"}
	pod := world.Pod{
		Key: world.VirtualKey(buffer, 1), Virtual: true, Waiting: true, Planned: "n1", Priority: world.VirtualPriority,
		Labels: map[string]string{"app": "web"},
	}
	b := world.NewBuilder()
	for _, err := range []error{
		b.SetNode(world.Node{Name: "n1", Claim: "c1", Ready: true}), b.SetClaim(world.Claim{Name: "c1", Node: "n1", Initialized: true}), b.SetPod(pod),
		b.SetGuard(world.Guard{Key: world.Key{Namespace: "d", Name: "all"}, Selector: world.Selector{Some: true, Set: label.Set{label.Is("app", "web")}}, Allowed: 0}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := b.Snapshot(100).Seated()
	at := w.Place("n1")
	if hold.IsEmpty(at) {
		t.Error("a node that holds room counts as empty")
	}
	if h, held := hold.Open(w, nil).First(at); held {
		t.Errorf("the node is held by %+v, and nothing of it has to be evicted", h)
	}
	if cost := hold.Cost(at.Pods[0]); cost != 0 {
		t.Errorf("to move room costs %d, want nothing", cost)
	}
	if !hold.IsEmpty(b.Snapshot(100).Place("n1")) {
		t.Error("the World that was not seated has a pod on the node")
	}
}
