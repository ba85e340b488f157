package oracle

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/engine/plan"
)

// carry is the cluster when the plan has been carried out, without the pods that it refuses.
func (c *Cluster) carry(p plan.Plan) *Cluster {
	q := c.ask("", p)
	out := *c
	out.Nodes, out.Pods, out.late = q.Nodes, nil, false
	for _, pod := range q.Pods {
		if node, placed := q.Placements[pod.Namespace+"/"+pod.Name]; placed {
			pod.Spec.NodeName, pod.Status = node, corev1.PodStatus{Phase: corev1.PodRunning}
		}
		if pod.Spec.NodeName != "" {
			out.Pods = append(out.Pods, pod)
		}
	}
	return &out
}

// without is the cluster without a node, whose pods wait but for the daemons'.
func (c *Cluster) without(node string) *Cluster {
	out := *c
	out.Nodes = slices.DeleteFunc(slices.Clone(c.Nodes), func(n corev1.Node) bool { return n.Name == node })
	out.Pods = nil
	for _, p := range c.Pods {
		if p.Spec.NodeName == node {
			if len(p.OwnerReferences) > 0 {
				continue
			}
			p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable},
			}}
		}
		out.Pods = append(out.Pods, p)
	}
	return &out
}
