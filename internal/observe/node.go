package observe

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
)

// Node reads a node. csi is what its volume drivers said of it; nil if nothing is known.
func Node(n *corev1.Node, csi *storagev1.CSINode) world.Node {
	out := world.Node{
		Name:         n.Name,
		ProviderID:   n.Spec.ProviderID,
		Created:      seconds(n.CreationTimestamp),
		Labels:       n.Labels,
		Taints:       taints(n.Spec.Taints),
		Capacity:     Amounts(n.Status.Capacity),
		Allocatable:  Amounts(n.Status.Allocatable),
		Cordoned:     n.Spec.Unschedulable,
		Deleting:     n.DeletionTimestamp != nil,
		DoNotDisrupt: n.Annotations[v1.AnnotationDoNotDisrupt] == "true" || n.Annotations[v1alpha5.AnnotationDoNotConsolidate] == "true",
		Pool:         PoolOf(n.Labels),
		VolumeLimits: VolumeLimits(csi),
		Moves:        annotation.MovesOf(n.Annotations[annotation.Moves]),
	}
	for _, c := range n.Status.Conditions {
		switch {
		case c.Type != corev1.NodeReady:
		case c.Status == corev1.ConditionTrue:
			out.Ready = true
		default:
			out.Unready = seconds(c.LastTransitionTime)
		}
	}
	for _, o := range n.OwnerReferences {
		if o.Kind == "NodeClaim" && strings.HasPrefix(o.APIVersion, v1.Group+"/") {
			out.Claim = o.Name
		}
	}
	return out
}

// PoolOf names the pool that labels of a node or a claim speak of; zero for none of them.
func PoolOf(labels map[string]string) world.PoolID {
	if name := labels[v1.LabelNodePool]; name != "" {
		return world.PoolID{Kind: world.NodePool, Name: name}
	}
	if name := labels[v1alpha5.LabelProvisioner]; name != "" {
		return world.PoolID{Kind: world.Provisioner, Name: name}
	}
	return world.PoolID{}
}

// Ephemeral reports whether a taint is one that a starting node has for a while.
func Ephemeral(t corev1.Taint) bool {
	switch t.Key {
	case corev1.TaintNodeNotReady:
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	case corev1.TaintNodeUnreachable:
		return t.Effect == corev1.TaintEffectNoSchedule
	case "node.cloudprovider.kubernetes.io/uninitialized":
		return t.Effect == corev1.TaintEffectNoSchedule
	case v1.TaintUnregistered:
		return t.Effect == corev1.TaintEffectNoExecute
	}
	return strings.HasPrefix(t.Key, "readiness.k8s.io/")
}

// VolumeLimits reads how many volumes of each driver a node can attach.
func VolumeLimits(csi *storagev1.CSINode) []world.DriverLimit {
	if csi == nil {
		return nil
	}
	var out []world.DriverLimit
	for _, d := range csi.Spec.Drivers {
		if d.Allocatable != nil && d.Allocatable.Count != nil {
			out = append(out, world.DriverLimit{Driver: d.Name, Count: int(*d.Allocatable.Count)})
		}
	}
	slices.SortFunc(out, func(a, b world.DriverLimit) int { return strings.Compare(a.Driver, b.Driver) })
	return out
}
