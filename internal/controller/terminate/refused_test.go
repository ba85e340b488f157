package terminate_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
)

// guarded is a seller that does not let its machine be ended until it is told to.
type guarded struct {
	seller

	free      bool
	throttled bool
}

func (g *guarded) Terminate(ctx context.Context, ids []cloud.MachineID) []error {
	if g.free {
		return g.seller.Terminate(ctx, ids)
	}
	if g.throttled {
		return []error{cloud.Errorf(cloud.Throttled, "", "terminate i-1: RequestLimitExceeded: slow down")}
	}
	return []error{cloud.Errorf(cloud.Unauthorised, "Unauthorized", "terminate i-1: UnauthorizedOperation: not allowed")}
}

// A machine that may not be ended says why on its node and its claim, once, until
// it may; and nothing is let go of before.
func TestMachineThatMayNotBeEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const id = "test:///i-1"
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "c", Finalizers: []string{v1.Finalizer}}}
		claim.Status.ProviderID, claim.Status.NodeName = id, "n"
		claim.Conditions().True(v1.ConditionLaunched, "", "", time.Now())
		claim.Conditions().True(v1.ConditionRegistered, "", "", time.Now())
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n", Finalizers: []string{v1.Finalizer}}, Spec: corev1.NodeSpec{ProviderID: id},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		}
		store := apitest.New(t, clock.Wall, claim, node)
		if err := store.Delete(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		g := &guarded{seller: seller{check: func() {}}}
		told := record.NewFakeRecorder(1000)
		events := loop.NewEvents(clock.Wall, told)
		picture := cluster.New(clock.Wall)
		machines := terminate.NewMachines(cloud.New(cloud.Config{Driver: g}), nil, clock.Wall)
		hand := &enact.Enactor{Client: store, Cluster: picture, Now: clock.Wall, Log: logr.Discard()}
		nodes := &terminate.Nodes{Client: store, Cluster: picture, Machines: machines, Evictor: enact.NewEvictor(hand), Events: events, Now: clock.Wall, Log: logr.Discard()}
		claims := &terminate.Claims{Client: store, Cluster: picture, Machines: machines, Events: events, Now: clock.Wall}
		live := func() {
			for range 30 { // what is refused is an error here, and tried again
				apitest.Show(t, store, picture)
				_, _ = claims.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "c"}})
				_, _ = nodes.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "n"}})
				time.Sleep(time.Second)
			}
		}
		live()
		if err := store.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
			t.Fatalf("the claim is let go of while its machine runs: %v", err)
		}
		c := claim.Conditions().Get(v1.ConditionInstanceTerminating)
		if c == nil || c.Status != metav1.ConditionFalse || c.Reason != v1.ReasonTerminationFailed || !strings.Contains(c.Message, "UnauthorizedOperation") {
			t.Errorf("the claim says %+v", c)
		}
		said := map[string]int{}
		for len(told.Events) > 0 {
			said[<-told.Events]++
		}
		const want = "Warning FailedTermination The machine cannot be ended: terminate machine i-1: terminate i-1: UnauthorizedOperation: not allowed"
		if said[want] != 1 {
			t.Errorf("said %v, want once of the node: %s", said, want)
		}
		g.free = true
		live()
		if err := store.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err == nil || !g.gone {
			t.Errorf("allowed again, the claim still has %v: %v", claim.GetFinalizers(), err)
		}
	})
}

// A machine whose end is throttled says nothing at first, and after a minute why it is still there, and since when.
func TestMachineWhoseEndIsThrottledForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &guarded{seller: seller{check: func() {}}, throttled: true}
		machines := terminate.NewMachines(cloud.New(cloud.Config{Driver: g}), nil, clock.Wall)
		claim := &v1.NodeClaim{}
		since := time.Now().UTC().Format(time.RFC3339)
		for begin := time.Now(); time.Since(begin) < 30*time.Second; { // the calls themselves slow down
			_, err := machines.End(t.Context(), "test:///i-1")
			if terminate.Refused(claim, err, time.Now()); err == nil || claim.Conditions().Get(v1.ConditionInstanceTerminating) != nil {
				t.Fatalf("%v is told at once: %+v", err, claim.Status.Conditions)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		_, err := machines.End(t.Context(), "test:///i-1")
		terminate.Refused(claim, err, time.Now())
		c := claim.Conditions().Get(v1.ConditionInstanceTerminating)
		if c == nil || c.Reason != v1.ReasonTerminationFailed || !strings.Contains(c.Message, "RequestLimitExceeded: slow down; tried since "+since) {
			t.Errorf("after two minutes the claim says %+v", c)
		}
		if cloud.CodeOf(err) != cloud.Throttled {
			t.Errorf("%v is no longer known as throttled", err)
		}
		g.free = true
		if _, err := machines.End(t.Context(), "test:///i-1"); err != nil {
			t.Errorf("it cannot be ended: %v", err)
		}
	})
}
