package kwok

import (
	"context"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	annotation = "kwok.x-k8s.io/node"
	fake       = "fake"
)

// An annotated client shows kwok the annotated nodes only. Kwok filters by itself, but drops the very update that takes
// the annotation away, so that a machine would never fall silent; here a node without it is one that was deleted.
type annotated struct{ kubernetes.Interface }

func (c annotated) CoreV1() corev1.CoreV1Interface { return core{c.Interface.CoreV1()} }

type core struct{ corev1.CoreV1Interface }

func (c core) Nodes() corev1.NodeInterface { return nodes{c.CoreV1Interface.Nodes()} }

type nodes struct{ corev1.NodeInterface }

func (n nodes) List(ctx context.Context, o metav1.ListOptions) (*v1.NodeList, error) {
	list, err := n.NodeInterface.List(ctx, o)
	if err != nil {
		return nil, err
	}
	kept := list.Items[:0]
	for _, node := range list.Items {
		if node.Annotations[annotation] == fake {
			kept = append(kept, node)
		}
	}
	list.Items = kept
	return list, nil
}

func (n nodes) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := n.NodeInterface.Watch(ctx, o)
	if err != nil {
		return nil, err
	}
	return watch.Filter(w, silence), nil
}

// silence turns an event of a node without the annotation into its deletion.
func silence(e watch.Event) (watch.Event, bool) {
	node, ok := e.Object.(*v1.Node)
	if !ok || node.Annotations[annotation] == fake || e.Type == watch.Bookmark {
		return e, true
	}
	// Kwok looks at the annotation of what is deleted, too.
	node = node.DeepCopy()
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	node.Annotations[annotation] = fake
	return watch.Event{Type: watch.Deleted, Object: node}, true
}
