package register_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/register"
)

type nobody struct{}

func (nobody) Joined(context.Context, string, string) {}

// Wherever a process is killed, the next one finishes the registration.
func TestKilledAtEachWrite(t *testing.T) {
	for nth := 1; ; nth++ {
		reached := false
		for _, after := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) { reached = killed(t, nth, after) })
		}
		if !reached {
			if nth < 3 {
				t.Errorf("a registration has %d writes, want the node and the claim", nth-1)
			}
			return
		}
	}
}

// killed has one process die at a write and another go on. It reports whether there was such a write.
func killed(t *testing.T, nth int, after bool) bool {
	const id = "sim:///i-1"
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{v1.LabelNodePool: "p"}, Finalizers: []string{v1.Finalizer}}}
	claim.Status.ProviderID = id
	claim.Conditions().True(v1.ConditionLaunched, "", "", time.Now())
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n"},
		Spec:       corev1.NodeSpec{ProviderID: id, Taints: []corev1.Taint{{Key: v1.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}}},
	}
	store := apitest.New(t, clock.Wall, claim, node)
	mortal, writes := apitest.Dying(store, nth, after)
	for _, through := range []client.Client{mortal, store} {
		r := &register.Reconciler{Client: through, Cluster: cluster.New(clock.Wall), Pods: nobody{}, Now: clock.Wall}
		for range 3 {
			_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "c"}})
			if err != nil && !errors.Is(err, apitest.ErrDead) {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // of virtual time
		}
	}
	if err := errors.Join(store.Get(t.Context(), client.ObjectKeyFromObject(claim), claim), store.Get(t.Context(), client.ObjectKeyFromObject(node), node)); err != nil {
		t.Fatal(err)
	}
	if len(node.Spec.Taints) != 0 || node.Labels[v1.LabelRegistered] != "true" || node.Labels[v1.LabelNodePool] != "p" {
		t.Errorf("killed at write %d, after=%t: node with taints %v and labels %v", nth, after, node.Spec.Taints, node.Labels)
	}
	if !claim.Conditions().Is(v1.ConditionRegistered) || claim.Status.NodeName != "n" {
		t.Errorf("killed at write %d, after=%t: claim %+v", nth, after, claim.Status)
	}
	return writes() >= nth
}
