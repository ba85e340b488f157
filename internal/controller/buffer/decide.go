// Package buffer has room held for the pods that CapacityBuffers speak of, and says on each whether the room is there.
//
// What a buffer refers to is read and becomes virtual pods of the cluster state, which
// are planned for like others. Nothing is created for them in the cluster.
package buffer

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/api/autoscaling/v1beta1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
)

// Resolved is what a buffer comes to.
type Resolved struct {
	Template   *v1beta1.LocalObjectRef // the PodTemplate; nil for a workload
	Generation *int64                  // of the PodTemplate
	Size       int
	Bounded    bool   // more was asked for than one buffer may have
	Empty      string // why it is of no pods, if it is, and what to change
	Reason     string // why it comes to nothing; empty if it comes to something
	Message    string
}

// Room is where the last plan has the virtual pods of a buffer.
type Room struct {
	There, Coming int       // on nodes that are complete, and on machines that have yet to become such
	Without       world.Key // one that has no place; empty: all have one
}

// RoomOf reads that from a World.
func RoomOf(w *world.World, buffer world.Key, size int) Room {
	var r Room
	for n := range size {
		p := w.Pod(world.VirtualKey(buffer, n+1))
		if p == nil {
			continue
		}
		switch at := w.Home(p); {
		case at == nil || at.Deleting():
			if r.Without == (world.Key{}) {
				r.Without = p.Key
			}
		case at.Whole():
			r.There++
		default:
			r.Coming++
		}
	}
	return r
}

// Status writes to a buffer what it comes to, and whether the room is there.
func Status(b *v1beta1.CapacityBuffer, r Resolved, room Room, now time.Time) {
	set := func(kind string, ok bool, reason, message string) {
		c := metav1.Condition{
			Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message,
			ObservedGeneration: b.Generation, LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
		}
		if ok {
			c.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&b.Status.Conditions, c)
	}
	b.Status.ProvisioningStrategy = b.Spec.ProvisioningStrategy
	if r.Reason != "" {
		set(v1beta1.ConditionReadyForProvisioning, false, r.Reason, r.Message)
		set(v1beta1.ConditionProvisioning, false, v1beta1.ReasonNotReady, "it is not known what room there is to be: see condition "+v1beta1.ConditionReadyForProvisioning)
		return
	}
	b.Status.PodTemplateRef, b.Status.PodTemplateGeneration = r.Template, r.Generation
	b.Status.Replicas = new(int32(r.Size))
	ready := "room for " + amount.Count(r.Size, "pod")
	if r.Bounded {
		ready += ", the most that one buffer may have, and fewer than were asked for: make several buffers of it, or larger pods"
	}
	set(v1beta1.ConditionReadyForProvisioning, true, v1beta1.ReasonResolved, ready)
	switch {
	case r.Size == 0:
		set(v1beta1.ConditionProvisioning, false, v1beta1.ReasonBufferEmpty, "the buffer is of no pods: "+r.Empty)
	case room.There == r.Size:
		set(v1beta1.ConditionProvisioning, true, v1beta1.ReasonFitsExistingCapacity, "nodes have room for "+amount.Count(r.Size, "pod"))
	default:
		message := fmt.Sprintf("nodes have room for %d of %s, and %d go to nodes that are on their way", room.There, amount.Count(r.Size, "pod"), room.Coming)
		if left := r.Size - room.There - room.Coming; left > 0 && room.Without != (world.Key{}) {
			message += fmt.Sprintf("; %d find none: `tenon explain pod %s` says why", left, room.Without)
		}
		set(v1beta1.ConditionProvisioning, false, v1beta1.ReasonRequiresNewCapacity, message)
	}
}

// due is how soon a buffer is looked at again: its workload may have been scaled, and the plan may have changed.
func due(b *v1beta1.CapacityBuffer) time.Duration {
	if meta.IsStatusConditionTrue(b.Status.Conditions, v1beta1.ConditionProvisioning) {
		return lookEvery
	}
	return lookEveryUnmet
}
