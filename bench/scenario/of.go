package scenario

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Of writes a World as an API server would list it, with all that drawn worlds
// have: pools of every kind, nodes that are complete and their claims, and pods
// with requests, node selectors, tolerations, topology spread and pod terms.
func Of(w *world.World) (Input, error) {
	m := &maker{}
	for _, p := range w.Pools() {
		if err := m.poolOf(p); err != nil {
			return m.in, fmt.Errorf("pool %s: %w", p.ID.Name, err)
		}
	}
	for _, p := range w.Places() {
		if p.Node == nil || p.Claim == nil {
			return m.in, fmt.Errorf("%s is not a node with a claim", p.Name())
		}
		m.join(p.Node, p.Claim)
		for _, pod := range p.Pods {
			o, err := podOf(pod)
			if err != nil {
				return m.in, fmt.Errorf("pod %s: %w", pod.Key, err)
			}
			m.bind(o, m.in.Nodes[len(m.in.Nodes)-1])
		}
	}
	for _, p := range w.Waiting() {
		o, err := podOf(p)
		if err != nil {
			return m.in, fmt.Errorf("pod %s: %w", p.Key, err)
		}
		o.Status.Phase = corev1.PodPending
		o.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		m.in.Pending = append(m.in.Pending, o)
	}
	return m.in, nil
}

// poolOf adds a pool.
func (m *maker) poolOf(p *world.Pool) error {
	var accepts []karpv1.Requirement
	for _, r := range p.Requirements {
		if r.Op() != label.In || r.Min != nil || r.Max != nil {
			return fmt.Errorf("the requirement on %s is no list of values", r.Key)
		}
		accepts = append(accepts, in(r.Key, r.Values...))
	}
	o := &karpv1.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodePool"},
		ObjectMeta: metav1.ObjectMeta{Name: p.ID.Name, UID: types.UID("pool-" + p.ID.Name)},
	}
	m.in.Pools = append(m.in.Pools, o)
	o.Spec.Template.Spec.NodeClassRef = class()
	o.Spec.Template.Spec.Requirements = accepts
	o.Spec.Limits = resources(p.Limits)
	if p.Weight != 0 {
		o.Spec.Weight = &p.Weight
	}
	o.Spec.Template.Labels = p.Labels
	for _, t := range p.Taints {
		o.Spec.Template.Spec.Taints = append(o.Spec.Template.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	return nil
}

// join adds a node and its claim, on which nothing has changed for long.
func (m *maker) join(n *world.Node, c *world.Claim) {
	m.machine(machine{
		name: n.Name, claim: c.Name, id: n.Name, pool: c.Pool.Name, labels: n.Labels, claimLabels: c.Labels,
		capacity: resources(n.Capacity), allocatable: resources(n.Allocatable), quiet: true,
	})
}

// podOf writes a pod.
func podOf(p *world.Pod) (*corev1.Pod, error) {
	if len(p.NodeTerms)+len(p.NodeWishes)+len(p.Ports)+len(p.Volumes)+len(p.Devices) > 0 {
		return nil, fmt.Errorf("it has more than is written here")
	}
	ask := resources(p.Requests)
	delete(ask, corev1.ResourceName(amount.Pods))
	o := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: types.UID(p.Key.String()), Labels: p.Labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "example.com/app", Resources: corev1.ResourceRequirements{Requests: ask},
		}}},
	}
	for _, r := range p.NodeSelector {
		if r.Op() != label.In || len(r.Values) != 1 {
			return nil, fmt.Errorf("the node selector's %s is not one value", r.Key)
		}
		if o.Spec.NodeSelector == nil {
			o.Spec.NodeSelector = map[string]string{}
		}
		o.Spec.NodeSelector[r.Key] = r.Values[0]
	}
	for _, t := range p.Tolerations {
		o.Spec.Tolerations = append(o.Spec.Tolerations, corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOpEqual, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	for _, s := range p.Spread {
		when := corev1.DoNotSchedule
		if s.Soft {
			when = corev1.ScheduleAnyway
		}
		o.Spec.TopologySpreadConstraints = append(o.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: int32(s.MaxSkew), TopologyKey: s.Key, WhenUnsatisfiable: when, LabelSelector: selectorOf(s.Selector), //nolint:gosec // a skew is a small number
		})
	}
	for _, t := range p.PodTerms {
		if t.Weight > 0 || t.Within.Some {
			return nil, fmt.Errorf("only required terms about named namespaces are written")
		}
		term(o, t)
	}
	return o, nil
}

// term adds a required pod affinity or anti-affinity term.
func term(o *corev1.Pod, t world.PodTerm) {
	if o.Spec.Affinity == nil {
		o.Spec.Affinity = &corev1.Affinity{}
	}
	is := corev1.PodAffinityTerm{TopologyKey: t.Key, LabelSelector: selectorOf(t.Selector)}
	a := o.Spec.Affinity
	if t.Anti {
		if a.PodAntiAffinity == nil {
			a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, is)
		return
	}
	if a.PodAffinity == nil {
		a.PodAffinity = &corev1.PodAffinity{}
	}
	a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, is)
}

// selectorOf writes a selector; one that picks nothing is none.
func selectorOf(s world.Selector) *metav1.LabelSelector {
	if !s.Some {
		return nil
	}
	out := &metav1.LabelSelector{}
	for _, r := range s.Set {
		if r.Op() == label.In && len(r.Values) == 1 {
			if out.MatchLabels == nil {
				out.MatchLabels = map[string]string{}
			}
			out.MatchLabels[r.Key] = r.Values[0]
			continue
		}
		out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement{Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Op()), Values: r.Values})
	}
	return out
}
