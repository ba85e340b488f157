package observe

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/tenon-sh/tenon/engine/world"
)

// DaemonSet reads a DaemonSet: the pod that it runs on every node it selects.
// A DaemonSet that is going away runs on no new node; it is false then.
func DaemonSet(d *appsv1.DaemonSet) (world.DaemonSet, bool) {
	key := world.Key{Namespace: d.Namespace, Name: d.Name}
	meta := d.Spec.Template.ObjectMeta
	meta.Namespace = d.Namespace // its affinity terms are about, where they do not say
	pod := Pod(&corev1.Pod{ObjectMeta: meta, Spec: d.Spec.Template.Spec})
	pod.Key, pod.DaemonSet = key, d.Name
	// The DaemonSet controller lets its pods onto nodes in these states.
	for _, taint := range []string{
		corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure,
		corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable,
	} {
		pod.Tolerations = append(pod.Tolerations, world.Toleration{Key: taint, Exists: true})
	}
	if d.Spec.Template.Spec.HostNetwork {
		pod.Tolerations = append(pod.Tolerations, world.Toleration{Key: corev1.TaintNodeNetworkUnavailable, Exists: true})
	}
	return world.DaemonSet{Key: key, Pod: pod}, d.DeletionTimestamp == nil
}

// Namespace reads a namespace.
func Namespace(n *corev1.Namespace) world.Namespace {
	return world.Namespace{Name: n.Name, Labels: n.Labels, Going: n.DeletionTimestamp != nil || n.Status.Phase == corev1.NamespaceTerminating}
}

// Guard reads a pod disruption budget.
func Guard(p *policyv1.PodDisruptionBudget) world.Guard {
	var wrong problems // a selector that cannot be read in part is wider than meant, which protects more
	return world.Guard{
		Key:      world.Key{Namespace: p.Namespace, Name: p.Name},
		Selector: selector(p.Spec.Selector, "spec.selector", wrong.add),
		Allowed:  int(p.Status.DisruptionsAllowed),
		Never:    p.Status.ExpectedPods > 0 && p.Status.DesiredHealthy >= p.Status.ExpectedPods && p.Status.DisruptionsAllowed == 0,
		UnhealthyLeave: p.Spec.UnhealthyPodEvictionPolicy != nil &&
			*p.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow,
	}
}
