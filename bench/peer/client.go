package peer

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// memory is a client that answers from memory what a scheduling pass and a look at nodes ask, and
// nothing else. It does not copy what it hands out, which the controller's
// cache would do: that is time and memory spared.
type memory struct {
	client.Client // nil: an unforeseen call shows at once

	nodes  map[string]*corev1.Node
	byNode map[string][]*corev1.Pod
	byApp  map[string][]*corev1.Pod // by namespace and the label app
	all    map[string][]*corev1.Pod // by namespace
	pools  []*karpenter.NodePool
}

func newMemory(nodes []*corev1.Node, pods ...[]*corev1.Pod) *memory {
	m := &memory{nodes: map[string]*corev1.Node{}, byNode: map[string][]*corev1.Pod{}, byApp: map[string][]*corev1.Pod{}, all: map[string][]*corev1.Pod{}}
	for _, n := range nodes {
		m.nodes[n.Name] = n
	}
	for _, list := range pods {
		for _, p := range list {
			app := p.Namespace + "/" + p.Labels["app"]
			m.byApp[app] = append(m.byApp[app], p)
			m.all[p.Namespace] = append(m.all[p.Namespace], p)
			if p.Spec.NodeName != "" {
				m.byNode[p.Spec.NodeName] = append(m.byNode[p.Spec.NodeName], p)
			}
		}
	}
	return m
}

// Get finds nodes. Nothing else that a pass asks for is there.
func (m *memory) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if n, ok := o.(*corev1.Node); ok && m.nodes[key.Name] != nil {
		*n = *m.nodes[key.Name]
		return nil
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: fmt.Sprintf("%T", o)}, key.Name)
}

// List finds pods of a node or by label; there is one namespace, and no object of another kind.
func (m *memory) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	switch l := list.(type) {
	case *corev1.PodList:
		l.Items = m.pods(o)
	case *karpenter.NodePoolList:
		for _, p := range m.pools {
			l.Items = append(l.Items, *p)
		}
	case *corev1.NamespaceList, *policyv1.PodDisruptionBudgetList, *appsv1.DaemonSetList: // there are none
	default:
		return fmt.Errorf("list %T: a scheduling pass was not known to ask for it", list)
	}
	return nil
}

func (m *memory) pods(o client.ListOptions) []corev1.Pod {
	found := m.all[o.Namespace]
	if node, ok := onlyNode(o.FieldSelector); ok {
		found = m.byNode[node]
	} else if app, ok := onlyApp(o.LabelSelector); ok {
		found = m.byApp[o.Namespace+"/"+app]
	}
	var out []corev1.Pod
	for _, p := range found {
		if o.LabelSelector == nil || o.LabelSelector.Matches(labels.Set(p.Labels)) {
			out = append(out, *p)
		}
	}
	return out
}

func onlyNode(s fields.Selector) (string, bool) {
	if s == nil {
		return "", false
	}
	return s.RequiresExactMatch("spec.nodeName")
}

func onlyApp(s labels.Selector) (string, bool) {
	if s == nil {
		return "", false
	}
	return s.RequiresExactMatch("app")
}
