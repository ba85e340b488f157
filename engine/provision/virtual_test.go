package provision_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// What is real takes the room that is held, however large the virtual pods are
// and whether or not they were there first.
func TestRealPodsTakeHeldRoom(t *testing.T) {
	room := amount.List{}.With(amount.CPU, 2000).With(amount.Pods, 10*amount.Unit)
	asks := amount.List{}.With(amount.CPU, 1500).With(amount.Pods, amount.Unit)
	small := amount.List{}.With(amount.CPU, 1000).With(amount.Pods, amount.Unit)
	b := world.NewBuilder()
	held := world.VirtualKey(world.Key{Namespace: "d", Name: "web"}, 1)
	comes := world.Key{Namespace: "d", Name: "real"}
	for _, err := range []error{
		b.SetNode(world.Node{Name: "n1", Ready: true, Capacity: room, Allocatable: room}),
		b.SetPod(world.Pod{Key: held, Virtual: true, Waiting: true, Planned: "n1", Priority: world.VirtualPriority, Requests: asks}),
		b.SetPod(world.Pod{Key: comes, UID: "1", Waiting: true, Requests: small}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p := provision.Decide(b.Snapshot(100), provision.Options{})
	if len(p.Filled) != 1 || len(p.Filled[0].Pods) != 1 || p.Filled[0].Pods[0] != comes {
		t.Errorf("filled %+v, want the real pod alone on n1", p.Filled)
	}
	if len(p.Refused) != 1 || p.Refused[0].Pod != held {
		t.Errorf("refused %+v, want the virtual pod, which has no pool to buy from", p.Refused)
	}
}
