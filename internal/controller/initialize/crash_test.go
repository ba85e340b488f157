package initialize_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/initialize"
)

// fixture is a claim whose node has registered and is not ready yet, and a reconciler for it.
type fixture struct {
	store client.WithWatch
	claim *v1.NodeClaim
	node  *corev1.Node
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	x := fixture{
		claim: &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Finalizers: []string{v1.Finalizer}}},
		node:  &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
	}
	x.claim.Status.NodeName = "n"
	x.claim.Conditions().True(v1.ConditionRegistered, "", "", time.Now())
	x.store = apitest.New(t, clock.Wall, x.claim, x.node)
	return x
}

func through(c client.Client) *initialize.Reconciler {
	return &initialize.Reconciler{Client: c, Live: c, Cluster: cluster.New(clock.Wall), Now: clock.Wall}
}

func (x fixture) now(t *testing.T) (*v1.NodeClaim, *corev1.Node) {
	t.Helper()
	if err := errors.Join(x.store.Get(t.Context(), client.ObjectKeyFromObject(x.claim), x.claim), x.store.Get(t.Context(), client.ObjectKeyFromObject(x.node), x.node)); err != nil {
		t.Fatal(err)
	}
	return x.claim, x.node
}

func (x fixture) ready(t *testing.T) {
	t.Helper()
	_, n := x.now(t)
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if err := x.store.Status().Update(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}

// What a node waits for is written once it has lasted, not before.
func TestOnlyWhatLastsIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t)
		r := through(x.store)
		wait := apitest.Step(t, r, x.claim.Name)
		c, _ := x.now(t)
		if got := c.Conditions().Get(v1.ConditionInitialized).Reason; got == v1.ReasonNodeNotReady || wait <= 0 {
			t.Fatalf("said %s at once, to look again after %v", got, wait)
		}
		time.Sleep(wait)
		apitest.Step(t, r, x.claim.Name)
		c, _ = x.now(t)
		if got := c.Conditions().Get(v1.ConditionInitialized).Reason; got != v1.ReasonNodeNotReady {
			t.Errorf("said %s after %v, want %s", got, wait, v1.ReasonNodeNotReady)
		}
	})
}

// Wherever a process is killed, the next one finishes.
func TestKilledAtEachWrite(t *testing.T) {
	writes := apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		x := newFixture(t)
		x.ready(t)
		for _, r := range []*initialize.Reconciler{through(life.Client(x.store)), through(x.store)} {
			for range 2 {
				apitest.Step(t, r, x.claim.Name)
			}
		}
		c, n := x.now(t)
		if !c.Conditions().Is(v1.ConditionInitialized) || !c.Conditions().Is(v1.ConditionConsistentStateFound) || n.Labels[v1.LabelInitialized] != "true" {
			t.Errorf("conditions %+v, labels %v", c.Status.Conditions, n.Labels)
		}
	})
	if writes != 2 {
		t.Errorf("%d writes, want one for the node and one for the claim", writes)
	}
}
