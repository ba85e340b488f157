package register_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/register"
)

type noOpenings struct{}

func (noOpenings) Opening(node string, _ time.Duration) nominate.Opening {
	return nominate.Opening{Node: node, Open: true}
}

func (noOpenings) Joined(context.Context, string, string) {}

// patient is pods that have their nodes wait as long as they may.
type patient struct{ noOpenings }

func (patient) Opening(node string, _ time.Duration) nominate.Opening {
	return nominate.Opening{Node: node, Pods: []world.Key{{Name: "p"}}}
}

// Wherever a process is killed, the next one finishes the registration.
func TestKilledAtEachWrite(t *testing.T) {
	tests := map[string]struct {
		why    string
		pods   register.Pods
		writes int
	}{
		"AtOnce": {"The node and the claim.", noOpenings{}, 2},
		"Kept":   {"Both when pods are kept off, and both again when they are not.", patient{}, 4},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			writes := apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) { registration(t, life, tc.pods) })
			if writes < tc.writes {
				t.Errorf("a registration has %d writes, want %d: %s", writes, tc.writes, tc.why)
			}
		})
	}
}

func registration(t *testing.T, life *apitest.Life, pods register.Pods) {
	const id = "sim:///i-1"
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{v1.LabelNodePool: "p"}, Finalizers: []string{v1.Finalizer}}}
	claim.Status.ProviderID = id
	claim.Conditions().True(v1.ConditionLaunched, "", "", time.Now())
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", CreationTimestamp: metav1.Now()},
		Spec:       corev1.NodeSpec{ProviderID: id, Taints: []corev1.Taint{{Key: v1.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}}},
	}
	store := apitest.New(t, clock.Wall, claim, node)
	for _, through := range []client.Client{life.Client(store), store} {
		r := &register.Reconciler{Client: through, Live: through, Cluster: cluster.New(clock.Wall), Pods: pods, Now: clock.Wall, Hold: 2 * time.Second}
		for range 3 {
			apitest.Step(t, r, claim.Name)
			time.Sleep(time.Second) // of virtual time
		}
	}
	if err := errors.Join(store.Get(t.Context(), client.ObjectKeyFromObject(claim), claim), store.Get(t.Context(), client.ObjectKeyFromObject(node), node)); err != nil {
		t.Fatal(err)
	}
	if len(node.Spec.Taints) != 0 || node.Labels[v1.LabelRegistered] != "true" || node.Labels[v1.LabelNodePool] != "p" {
		t.Errorf("node with taints %v and labels %v", node.Spec.Taints, node.Labels)
	}
	if !claim.Conditions().Is(v1.ConditionRegistered) || claim.Status.NodeName != "n" {
		t.Errorf("claim %+v", claim.Status)
	}
}
