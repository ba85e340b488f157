// Package register matches nodes that join with the claims that asked for them.
package register

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/observe"
)

// Kind is what is due for a claim.
type Kind string

// The kinds of step.
const (
	Nothing Kind = "nothing"  // not launched yet, registered already, or leaving
	Wait    Kind = "wait"     // no node has joined yet
	TooMany Kind = "too many" // several nodes say they are this machine
	Match   Kind = "match"    // take the node for the claim's
	Rejoin  Kind = "rejoin"   // its node was deleted, and its kubelet has made another
)

// Next returns the step that is due for a claim, given the nodes of its machine.
func Next(c *v1.NodeClaim, nodes []corev1.Node) Kind {
	s := c.Conditions()
	switch {
	case c.DeletionTimestamp != nil || !s.Is(v1.ConditionLaunched) || c.Status.ProviderID == "":
		return Nothing
	case s.Is(v1.ConditionRegistered):
		if len(nodes) == 1 && nodes[0].DeletionTimestamp == nil && nodes[0].Labels[v1.LabelRegistered] != "true" {
			return Rejoin
		}
		return Nothing
	case len(nodes) == 0:
		return Wait
	case len(nodes) > 1:
		return TooMany
	}
	return Match
}

// Several says which nodes say that they are the same machine, and what to do.
func Several(nodes []corev1.Node) string {
	names := make([]string, len(nodes))
	for i := range nodes {
		names[i] = nodes[i].Name
	}
	slices.Sort(names)
	return fmt.Sprintf("nodes %s have this claim's provider ID: find out which of them its machine runs as, and delete the others", strings.Join(names, ", "))
}

// Matched is the node as it is once it is known to be the claim's: with the
// claim's labels, annotations and taints, owned by it, and open to pods.
func Matched(n *corev1.Node, c *v1.NodeClaim) *corev1.Node {
	out := n.DeepCopy()
	if !slices.Contains(out.Finalizers, v1.Finalizer) {
		out.Finalizers = append(out.Finalizers, v1.Finalizer)
	}
	known := slices.ContainsFunc(out.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == c.UID })
	if !known {
		block := true
		out.OwnerReferences = append(out.OwnerReferences, metav1.OwnerReference{
			APIVersion: v1.Group + "/v1", Kind: "NodeClaim", Name: c.Name, UID: c.UID, BlockOwnerDeletion: &block,
		})
	}
	out.Labels = over(out.Labels, c.Labels)
	out.Labels[v1.LabelRegistered] = "true"
	notes := maps.Clone(c.Annotations)
	for k := range notes {
		if private(k) {
			delete(notes, k)
		}
	}
	out.Annotations = over(out.Annotations, notes)
	if !known && n.Labels[v1.LabelDoNotSyncTaints] != "true" { // once: a startup taint that is taken off stays off
		for _, t := range slices.Concat(c.Spec.Taints, c.Spec.StartupTaints) {
			if !hasTaint(out.Spec.Taints, t) {
				out.Spec.Taints = append(out.Spec.Taints, t)
			}
		}
	}
	out.Spec.Taints = slices.DeleteFunc(out.Spec.Taints, func(t corev1.Taint) bool { return t.Key == v1.TaintUnregistered })
	return out
}

// Rejoined is the node as it is once it is known that a kubelet made it again: as Matched, and complete if it was
// complete before. Startup taints are on it once more, and what is to take them off starts there once more.
func Rejoined(n *corev1.Node, c *v1.NodeClaim) *corev1.Node {
	out := Matched(n, c)
	if c.Conditions().Is(v1.ConditionInitialized) {
		out.Labels[v1.LabelInitialized] = "true"
	}
	return out
}

// Kept is the node as it is while it is known to be the claim's and takes no
// pods yet: as Matched, but for the taint that keeps them off.
func Kept(n *corev1.Node, c *v1.NodeClaim) *corev1.Node {
	out := Matched(n, c)
	delete(out.Labels, v1.LabelRegistered)
	out.Spec.Taints = append(out.Spec.Taints, unregistered())
	return out
}

// Left is for how long more a node may take no pods. One whose date is still to
// come has none left, whatever time it is then.
func Left(n *corev1.Node, hold time.Duration, now time.Time) time.Duration {
	age := now.Sub(n.CreationTimestamp.Time)
	if age < -hold {
		return 0
	}
	return min(hold-age, hold)
}

// Waiting says for whose sake a node takes no pods yet.
func Waiting(node string, o nominate.Opening) string {
	pods := fmt.Sprintf("%d pods that are spread over zones", len(o.Pods))
	if len(o.Pods) == 1 {
		pods = "a pod that is spread over zones"
	}
	return fmt.Sprintf("Node %s takes no pods until %s at the latest, so that %s can be bound there when other nodes have joined",
		node, time.Unix(o.Until, 0).UTC().Format("15:04:05 MST"), pods)
}

// Closed reports whether the node keeps pods off until it is matched. Nodes of
// Provisioners do not, nor do those that were matched.
func Closed(n *corev1.Node) bool {
	return n.Labels[v1.LabelRegistered] != "true" && hasTaint(n.Spec.Taints, unregistered())
}

func unregistered() corev1.Taint {
	return corev1.Taint{Key: v1.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}
}

// private are the annotations that speak of the claim itself and not of its node.
func private(key string) bool {
	return slices.Contains([]string{
		v1.AnnotationOrder, v1.AnnotationOrderPlace, v1.AnnotationOrderSize, annotation.Template, annotation.Booked, annotation.Pods, annotation.Replaces, annotation.Adopts,
		v1.AnnotationTerminationTime, "kubectl.kubernetes.io/last-applied-configuration",
	}, key)
}

// Unguarded reports whether pods may have started on the node before it was
// matched. Nodes of Provisioners join as they did in their time, without the
// taint that prevents it, and it is no news of them.
func Unguarded(n *corev1.Node, c *v1.NodeClaim) bool {
	return n.Labels[v1.LabelRegistered] != "true" && !hasTaint(n.Spec.Taints, unregistered()) && observe.PoolOf(c.Labels).Kind != world.Provisioner
}

// hasTaint reports whether taints hold one of t's key and effect.
func hasTaint(taints []corev1.Taint, t corev1.Taint) bool {
	return slices.ContainsFunc(taints, func(o corev1.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect })
}

func over(base, top map[string]string) map[string]string {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, top)
	return out
}
