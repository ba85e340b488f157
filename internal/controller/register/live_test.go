package register_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/register"
)

// A node that has just joined is written to by others sooner than the cache shows: the
// registration is written to the node as it is, and none of its writes is refused. A
// node of the same name that is another machine's is left alone.
func TestANodeIsRegisteredAsItIs(t *testing.T) {
	const id = "sim:///i-1"
	for name, tc := range map[string]struct {
		why    string
		change func(*corev1.Node)
		writes int
		ours   bool
	}{
		"Changed": {"Its kubelet has written to it.", func(n *corev1.Node) { n.Annotations = map[string]string{"ttl": "0"} }, 1, true},
		"Another": {"It is another node by now.", func(n *corev1.Node) { n.UID, n.Annotations = "other", map[string]string{"ttl": "0"} }, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "u", Finalizers: []string{v1.Finalizer}}}
			claim.Status.ProviderID = id
			claim.Conditions().True(v1.ConditionLaunched, "", "", time.Now())
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "first"}, Spec: corev1.NodeSpec{ProviderID: id, Taints: []corev1.Taint{{Key: v1.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}}}}
			store := apitest.New(t, clock.Wall, claim, node)
			shown := &corev1.Node{}
			if err := store.Get(t.Context(), client.ObjectKey{Name: "n"}, shown); err != nil {
				t.Fatal(err)
			}
			next := shown.DeepCopy()
			tc.change(next)
			if err := store.Update(t.Context(), next); err != nil {
				t.Fatal(err)
			}
			writes := 0
			cached := interceptor.NewClient(store, interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, o ...client.ListOption) error {
					if nodes, ok := l.(*corev1.NodeList); ok {
						nodes.Items = []corev1.Node{*shown}
						return nil
					}
					return c.List(ctx, l, o...)
				},
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
					writes++
					return c.Patch(ctx, o, p, opts...)
				},
			})
			apitest.Step(t, &register.Reconciler{Client: cached, Live: store, Cluster: cluster.New(clock.Wall), Pods: noOpenings{}, Now: clock.Wall}, "c")
			if err := store.Get(t.Context(), client.ObjectKey{Name: "n"}, node); err != nil {
				t.Fatal(err)
			}
			if ours := node.Labels[v1.LabelRegistered] == "true"; ours != tc.ours || writes != tc.writes || node.Annotations["ttl"] != "0" {
				t.Errorf("%s registered: %t after %d writes, annotations %v; want %t after %d", tc.why, ours, writes, node.Annotations, tc.ours, tc.writes)
			}
		})
	}
}
