// Package repair replaces machines whose nodes have been unhealthy for too long.
package repair

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Policy says for how long a node may be in a condition.
type Policy struct {
	Condition corev1.NodeConditionType
	Status    corev1.ConditionStatus
	For       time.Duration
}

// Policies are those that hold wherever machines come from, and those of the
// agent that watches hardware and system services of nodes.
func Policies() []Policy {
	half, soon := 30*time.Minute, 10*time.Minute
	return []Policy{
		{corev1.NodeReady, corev1.ConditionFalse, half},
		{corev1.NodeReady, corev1.ConditionUnknown, half},
		{"AcceleratedHardwareReady", corev1.ConditionFalse, soon},
		{"StorageReady", corev1.ConditionFalse, half},
		{"NetworkingReady", corev1.ConditionFalse, half},
		{"KernelReady", corev1.ConditionFalse, half},
		{"ContainerRuntimeReady", corev1.ConditionFalse, half},
	}
}

// Unhealthy is a condition of a node that some policy does not suffer for ever.
type Unhealthy struct {
	Condition corev1.NodeConditionType
	Left      time.Duration // until it has lasted too long
}

// Illness returns what is wrong with a node that is due first; false if nothing
// is. since says how long ago a condition became what it is.
func Illness(n *corev1.Node, policies []Policy, since func(corev1.NodeCondition) time.Duration) (Unhealthy, bool) {
	var first Unhealthy
	for _, c := range n.Status.Conditions {
		for _, p := range policies {
			if c.Type != p.Condition || c.Status != p.Status {
				continue
			}
			if left := p.For - since(c); first.Condition == "" || left < first.Left {
				first = Unhealthy{c.Type, left}
			}
		}
	}
	return first, first.Condition != ""
}
