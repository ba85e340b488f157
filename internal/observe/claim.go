package observe

import (
	"fmt"
	"hash/fnv"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
)

// TemplateOf names what machines of a class are like: the class, and the pool's own
// kubelet settings where it has any. What the class says may change under the
// same name; its catalogue then has another version.
func TemplateOf(ref v1.NodeClassReference, kubelet []byte) world.TemplateID {
	id := fmt.Sprintf("%s/%s/%s", ref.Group, ref.Kind, ref.Name)
	if len(kubelet) > 0 {
		h := fnv.New64a()
		h.Write(kubelet)
		id += fmt.Sprintf("#%016x", h.Sum64())
	}
	return world.TemplateID(id)
}

// Claim reads a claim.
func Claim(c *v1.NodeClaim) world.Claim {
	out := world.Claim{
		Name:          c.Name,
		UID:           string(c.UID),
		Created:       seconds(c.CreationTimestamp),
		Pool:          PoolOf(c.Labels),
		Template:      world.TemplateID(c.Annotations[annotation.Template]),
		Labels:        c.Labels,
		Requests:      Amounts(c.Spec.Resources.Requests),
		Taints:        taints(c.Spec.Taints),
		StartupTaints: taints(c.Spec.StartupTaints),
		Booked:        annotation.BookedOf(c.Annotations[annotation.Booked]),
		ProviderID:    c.Status.ProviderID,
		Node:          c.Status.NodeName,
		Capacity:      Amounts(c.Status.Capacity),
		Allocatable:   Amounts(c.Status.Allocatable),
		Launched:      c.Conditions().Is(v1.ConditionLaunched),
		Registered:    c.Conditions().Is(v1.ConditionRegistered),
		Initialized:   c.Conditions().Is(v1.ConditionInitialized),
		Failed:        c.Conditions().Isnt(v1.ConditionLaunched),
		DrainEnds:     c.Spec.TerminationGracePeriod != nil,
		Deleting:      c.DeletionTimestamp != nil,
		LastPodEvent:  seconds(c.Status.LastPodEventTime),
		Pods:          annotation.PodsOf(c.Annotations[annotation.Pods]),
		Drifted:       why(c, v1.ConditionDrifted),
		Change:        change(c),
		Going:         why(c, v1.ConditionDisruptionReason),
		Replaces:      annotation.NamesOf(c.Annotations[annotation.Replaces]),
		Drivers:       annotation.DriversOf(c.Annotations[v1.AnnotationRequestedDRADrivers]),
	}
	if s := c.Conditions().Get(v1.ConditionInitialized); s != nil && out.Initialized {
		out.InitializedAt = seconds(s.LastTransitionTime)
	}
	if out.Template == "" && c.Spec.NodeClassRef != nil {
		out.Template = TemplateOf(*c.Spec.NodeClassRef, nil)
	}
	if d, ok := c.Spec.ExpireAfter.Span(); ok {
		out.ExpireAfter = max(int64(d/time.Second), 1)
	}
	// What cannot be read as a requirement says nothing: the claim is asked for already.
	out.Requirements, _ = requirements(c.Spec.Requirements)
	return out
}

// why is the reason of a condition of the claim; empty if it does not hold.
func why(c *v1.NodeClaim, kind string) string {
	if s := c.Conditions().Get(kind); s != nil && c.Conditions().Is(kind) {
		return s.Reason
	}
	return ""
}

// change is what differs on a claim that has drifted, if its condition says more than its reason.
func change(c *v1.NodeClaim) string {
	if s := c.Conditions().Get(v1.ConditionDrifted); s != nil && c.Conditions().Is(v1.ConditionDrifted) && s.Message != s.Reason {
		return s.Message
	}
	return ""
}

// requirements reads requirements, and says of each that cannot be read why.
func requirements(in []v1.Requirement) (label.Set, []string) {
	var out label.Set
	var wrong problems
	for i, r := range in {
		q, err := label.New(r.Key, label.Op(r.Operator), r.Values...)
		if err = keyed(r.Key, err); err != nil {
			wrong.add("requirements[%d]: %v", i, err)
			continue
		}
		if r.MinValues != nil {
			q.Least = *r.MinValues
		}
		out = out.And(q)
	}
	return out, wrong
}

// Requirements writes a set the way the API has it; what has bounds and
// exceptions at once takes several entries.
func Requirements(s label.Set) []v1.Requirement {
	out := make([]v1.Requirement, 0, len(s))
	for _, r := range s {
		add := func(op corev1.NodeSelectorOperator, values ...string) {
			e := v1.Requirement{Key: r.Key, Operator: op, Values: values}
			if r.Least > 0 {
				least := r.Least
				e.MinValues = &least
			}
			out = append(out, e)
		}
		op := r.Op()
		if op != label.Exists || r.Min == nil && r.Max == nil {
			add(corev1.NodeSelectorOperator(op), r.Values...)
		}
		if r.Min != nil {
			add(v1.OperatorGte, fmt.Sprint(*r.Min))
		}
		if r.Max != nil {
			add(v1.OperatorLte, fmt.Sprint(*r.Max))
		}
	}
	return out
}
