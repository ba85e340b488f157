package observe

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/api/autoscaling/v1beta1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
)

// mostVirtual is how many virtual pods one CapacityBuffer has at most: each is
// planned for, so that a number with too many digits would stop all planning.
const mostVirtual = 5000

// BufferPod is the pod that a CapacityBuffer holds room for, as the template says. Volumes that are claimed are
// left out: a virtual pod mounts nothing.
func BufferPod(b *v1beta1.CapacityBuffer, t *corev1.PodTemplateSpec) *corev1.Pod {
	p := &corev1.Pod{Spec: *t.Spec.DeepCopy()}
	p.Namespace, p.Name, p.Labels = b.Namespace, b.Name, t.Labels
	p.CreationTimestamp = b.CreationTimestamp
	p.Spec.NodeName, p.Spec.SchedulingGates = "", nil
	p.Spec.Volumes = slices.DeleteFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
	return p
}

// BufferSize is how many such pods there is to be room for, and whether that is
// less than asked for because it would be more than mostVirtual. replicas are those
// of the workload that the buffer refers to; nil if it refers to a template.
//
// Replicas and percentage say a size, of which the larger counts; limits bound
// it, and are the size where nothing else says one. A workload without pods
// needs no room for more of them: its percentage is none, also beside limits.
func BufferSize(b *v1beta1.CapacityBuffer, pod *corev1.Pod, replicas *int32) (size int, bounded bool) {
	sized := false
	var want int64
	if b.Spec.Replicas != nil {
		sized, want = true, int64(*b.Spec.Replicas)
	}
	if p := b.Spec.Percentage; p != nil && replicas != nil {
		sized = true
		want = max(want, (int64(*p)*int64(*replicas)+99)/100)
	}
	fits, limited := within(Amounts(b.Spec.Limits), requests(pod))
	switch {
	case limited && !sized:
		want = fits
	case limited:
		want = min(want, fits)
	}
	return int(max(min(want, mostVirtual), 0)), want > mostVirtual
}

// WhyEmpty says why a buffer is of no pods, where in its spec, and what to change.
func WhyEmpty(b *v1beta1.CapacityBuffer, pod *corev1.Pod, replicas *int32) string {
	asked := requests(pod)
	for _, l := range Amounts(b.Spec.Limits) {
		if one := asked.Value(l.Name); one > 0 && max(l.Value, 0) < one {
			wants, has := amount.Against(l.Name, one, max(l.Value, 0))
			return fmt.Sprintf("spec.limits has %s %s, and one pod requests %s: raise it to that at least", l.Name, has, wants)
		}
	}
	switch {
	case b.Spec.Percentage != nil && *b.Spec.Percentage > 0 && replicas != nil:
		return "its workload has no replicas, of which spec.percentage is a share: scale it up, or give spec.replicas"
	case b.Spec.Percentage != nil && replicas != nil:
		return "spec.percentage is 0, and spec.replicas gives no number: raise one of them"
	case b.Spec.Replicas != nil:
		return "spec.replicas is 0: raise it"
	case len(b.Spec.Limits) > 0:
		return "spec.limits names nothing that its pods request: name what they do, or give spec.replicas"
	}
	return "its spec says no number: give spec.replicas or spec.limits, or, of a workload, spec.percentage"
}

// within is how often the requests fit in the limits. It is false if the limits say nothing of what is requested.
func within(limits, requests amount.List) (fits int64, limited bool) {
	for _, l := range limits {
		asked := requests.Value(l.Name)
		if asked <= 0 {
			continue
		}
		if n := max(l.Value, 0) / asked; !limited || n < fits {
			fits, limited = n, true
		}
	}
	return fits, limited
}

// VirtualPods are size virtual pods for a CapacityBuffer.
func VirtualPods(b *v1beta1.CapacityBuffer, pod *corev1.Pod, size int) []world.Pod {
	like := Pod(pod)
	like.Virtual, like.Waiting, like.Preempts = true, true, false
	like.Priority, like.Disruption = world.VirtualPriority, world.PodDisruption{}
	out := make([]world.Pod, size)
	for i := range out {
		out[i] = like
		out[i].Key = world.VirtualKey(world.Key{Namespace: b.Namespace, Name: b.Name}, i+1)
		out[i].UID = string(b.UID) + "/" + out[i].Name
	}
	return out
}
