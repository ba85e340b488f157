package observe

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// DefaultSpread are the topology spread constraints that kube-scheduler's
// configuration gives to pods that state none (podTopologySpread.defaultConstraints).
type DefaultSpread []world.Spread // without selectors

// ReadDefaultSpread reads constraints that are known to be valid.
func ReadDefaultSpread(constraints []corev1.TopologySpreadConstraint) DefaultSpread {
	var out DefaultSpread
	for _, c := range constraints {
		s := constraint(c)
		s.Default = true
		out = append(out, s)
	}
	return out
}

// For returns the constraints of a pod that states none. Which pods count is found as
// kube-scheduler does: what the Services select that select the pod, and what its owner
// selects. Where that is nothing, the pod has no constraints.
func (d DefaultSpread) For(services []map[string]string, owner world.Selector) []world.Spread {
	selector := world.Selector{Some: true, Set: owner.Set}
	for _, s := range services {
		selector.Set = selector.Set.Meet(plainly(s))
	}
	if len(selector.Set) == 0 {
		return nil
	}
	out := make([]world.Spread, len(d))
	for i, s := range d {
		s.Selector = selector
		out[i] = s
	}
	return out
}

// Owner is what makes pods that are meant to be alike: a ReplicationController, a ReplicaSet or a StatefulSet.
type Owner struct {
	Kind string
	world.Key
}

// The kinds of owner whose selector says which pods are spread together.
const (
	ReplicationController = "ReplicationController"
	ReplicaSet            = "ReplicaSet"
	StatefulSet           = "StatefulSet"
)

// OwnerOf returns the owner of a pod; the zero Owner where it has none of these kinds.
func OwnerOf(p *corev1.Pod) Owner {
	o := metav1.GetControllerOfNoCopy(p)
	if o == nil {
		return Owner{}
	}
	switch (metav1.TypeMeta{APIVersion: o.APIVersion, Kind: o.Kind}) {
	case metav1.TypeMeta{APIVersion: "v1", Kind: ReplicationController},
		metav1.TypeMeta{APIVersion: "apps/v1", Kind: ReplicaSet},
		metav1.TypeMeta{APIVersion: "apps/v1", Kind: StatefulSet}:
		return Owner{o.Kind, world.Key{Namespace: p.Namespace, Name: o.Name}}
	}
	return Owner{}
}

// OwnerSelector reads the selector of an owner.
func OwnerSelector(s *metav1.LabelSelector) world.Selector {
	return selector(s, "spec.selector", func(string, ...any) {}) // the API server takes none that is wrong
}

// Selected reports whether a Service with that selector selects pods with those
// labels. No selector selects none; one that is empty, every pod.
func Selected(selector, labels map[string]string) bool {
	for k, v := range selector {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	return selector != nil
}

// constraint reads a topology spread constraint without its selector.
func constraint(c corev1.TopologySpreadConstraint) world.Spread {
	s := world.Spread{
		Key: label.Canonical(c.TopologyKey), MaxSkew: int(c.MaxSkew), Soft: c.WhenUnsatisfiable == corev1.ScheduleAnyway,
		AnyNode:      c.NodeAffinityPolicy != nil && *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore,
		HonourTaints: c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor,
	}
	if c.MinDomains != nil {
		s.MinDomains = int(*c.MinDomains)
	}
	if text, err := json.Marshal(c); err == nil {
		s.Source = string(text)
	}
	return s
}
