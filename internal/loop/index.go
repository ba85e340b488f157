package loop

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/internal/panics"
)

// The fields by which objects are found in the cache.
const (
	NodeProviderID  = "spec.providerID"
	ClaimProviderID = "status.providerID"
	ClaimOrder      = "metadata.annotations.order"
)

// Unordered is what ClaimOrder is for claims without a machine that are in no order yet.
const Unordered = "unordered"

// Index makes objects be found by these fields. It must be called before the cache starts.
func Index(ctx context.Context, i client.FieldIndexer) error {
	err := i.IndexField(ctx, &corev1.Node{}, NodeProviderID, func(o client.Object) []string {
		if n, ok := o.(*corev1.Node); ok && n.Spec.ProviderID != "" {
			return []string{n.Spec.ProviderID}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index nodes: %w", err)
	}
	err = i.IndexField(ctx, &v1.NodeClaim{}, ClaimProviderID, func(o client.Object) []string {
		if c, ok := o.(*v1.NodeClaim); ok && c.Status.ProviderID != "" {
			return []string{c.Status.ProviderID}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index claims: %w", err)
	}
	err = i.IndexField(ctx, &v1.NodeClaim{}, ClaimOrder, func(o client.Object) []string {
		c, ok := o.(*v1.NodeClaim)
		switch {
		case !ok:
			return nil
		case c.Annotations[v1.AnnotationOrder] != "":
			return []string{c.Annotations[v1.AnnotationOrder]}
		case c.Status.ProviderID == "":
			return []string{Unordered}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index claims by order: %w", err)
	}
	return nil
}

// ClaimsAt are the claims of a machine: one, unless something is wrong.
func ClaimsAt(ctx context.Context, c client.Reader, providerID string) ([]v1.NodeClaim, error) {
	if providerID == "" {
		return nil, nil
	}
	var list v1.NodeClaimList
	if err := c.List(ctx, &list, client.MatchingFields{ClaimProviderID: providerID}); err != nil {
		return nil, fmt.Errorf("claims of machine %s: %w", providerID, err)
	}
	return list.Items, nil
}

// NodesAt are the nodes of a machine: one, unless something is wrong.
func NodesAt(ctx context.Context, c client.Reader, providerID string) ([]corev1.Node, error) {
	if providerID == "" {
		return nil, nil
	}
	var list corev1.NodeList
	if err := c.List(ctx, &list, client.MatchingFields{NodeProviderID: providerID}); err != nil {
		return nil, fmt.Errorf("nodes of machine %s: %w", providerID, err)
	}
	return list.Items, nil
}

// Mapped has a controller look at the objects that f makes of one that changed. One
// that breaks f is reported and passed over: it is looked at again with its next
// change, and the informer, which would end the process, goes on.
func Mapped(told panics.Teller, f handler.MapFunc) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) (out []reconcile.Request) {
		told.Do("watch", func() { out = f(ctx, o) }, "object", o.GetName())
		return out
	})
}

// ClaimsOfNode maps a node to the claims of its machine.
func ClaimsOfNode(c client.Reader) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		n, ok := o.(*corev1.Node)
		if !ok {
			return nil
		}
		claims, err := ClaimsAt(ctx, c, n.Spec.ProviderID)
		if err != nil {
			return nil // the cache does not fail but while it stops
		}
		var out []reconcile.Request
		for i := range claims {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&claims[i])})
		}
		return out
	}
}

// PoolName is the pool that labels of a claim or node name, as metrics show it.
func PoolName(labels map[string]string) string {
	if name := labels[v1.LabelNodePool]; name != "" {
		return name
	}
	return labels[v1alpha5.LabelProvisioner]
}
