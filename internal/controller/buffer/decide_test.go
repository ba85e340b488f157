package buffer

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/api/autoscaling/v1beta1"
	"github.com/tenon-sh/tenon/engine/world"
)

func TestStatus(t *testing.T) {
	for name, c := range map[string]struct {
		resolved   Resolved
		room       Room
		ready, is  metav1.ConditionStatus
		why, again string // reasons of the two conditions
		replicas   int32
	}{
		"ThereIsRoom":  {resolved: Resolved{Size: 3}, room: Room{There: 3}, ready: "True", is: "True", why: v1beta1.ReasonResolved, again: v1beta1.ReasonFitsExistingCapacity, replicas: 3},
		"OnItsWay":     {resolved: Resolved{Size: 3}, room: Room{There: 1, Coming: 2}, ready: "True", is: "False", why: v1beta1.ReasonResolved, again: v1beta1.ReasonRequiresNewCapacity, replicas: 3},
		"FindsNone":    {resolved: Resolved{Size: 3}, ready: "True", is: "False", why: v1beta1.ReasonResolved, again: v1beta1.ReasonRequiresNewCapacity, replicas: 3},
		"OfNothing":    {ready: "True", is: "False", why: v1beta1.ReasonResolved, again: v1beta1.ReasonBufferEmpty},
		"NoSuchObject": {resolved: Resolved{Reason: v1beta1.ReasonScalableRefNotFound, Message: "x"}, ready: "False", is: "False", why: v1beta1.ReasonScalableRefNotFound, again: v1beta1.ReasonNotReady},
	} {
		t.Run(name, func(t *testing.T) {
			b := &v1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
			Status(b, c.resolved, c.room, time.Unix(5, 0))
			for kind, want := range map[string]struct {
				status metav1.ConditionStatus
				reason string
			}{v1beta1.ConditionReadyForProvisioning: {c.ready, c.why}, v1beta1.ConditionProvisioning: {c.is, c.again}} {
				got := meta.FindStatusCondition(b.Status.Conditions, kind)
				if got == nil || got.Status != want.status || got.Reason != want.reason || got.ObservedGeneration != 2 {
					t.Errorf("%s is %+v, want %s %s", kind, got, want.status, want.reason)
				}
			}
			if c.resolved.Reason == "" && *b.Status.Replicas != c.replicas {
				t.Errorf("%d replicas, want %d", *b.Status.Replicas, c.replicas)
			}
			before := b.DeepCopy()
			Status(b, c.resolved, c.room, time.Unix(9, 0))
			if was := before.Status.Conditions[0].LastTransitionTime; !was.Equal(&b.Status.Conditions[0].LastTransitionTime) {
				t.Error("a condition that stays as it is moves its time")
			}
		})
	}
}

// Who asks why there is no room is told of a pod that has none: virtual pods are alike, and which of them are placed is
// the plan's to say.
func TestTheOneWithoutRoomIsNamed(t *testing.T) {
	key := world.Key{Namespace: "shop", Name: "web"}
	w := world.NewBuilder()
	if err := w.SetNode(world.Node{Name: "n", Ready: true}); err != nil {
		t.Fatal(err)
	}
	for i, planned := range []string{"n", "", "n"} {
		if err := w.SetPod(world.Pod{Key: world.VirtualKey(key, i+1), UID: strconv.Itoa(i), Virtual: true, Waiting: true, Planned: planned}); err != nil {
			t.Fatal(err)
		}
	}
	room := RoomOf(w.Snapshot(1), key, 3)
	if want := (Room{There: 2, Without: world.VirtualKey(key, 2)}); room != want {
		t.Fatalf("the room is %+v, want %+v", room, want)
	}
	b := &v1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	Status(b, Resolved{Size: 3}, room, time.Unix(5, 0))
	const want = "nodes have room for 2 of 3 pods, and 0 go to nodes that are on their way; 1 find none: `tenon explain pod shop/web#2` says why"
	if c := meta.FindStatusCondition(b.Status.Conditions, v1beta1.ConditionProvisioning); c.Message != want {
		t.Errorf("%q, want %q", c.Message, want)
	}
}
