package terminate_test

import (
	"context"
	"errors"
	"maps"
	"slices"
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

// guarded is a cloud that does not let its machine be ended until it is told to.
type guarded struct {
	fakeCloud

	free      bool
	throttled bool
	unseen    bool // what is asked about the machine is throttled, too
}

func (g *guarded) List(ctx context.Context) ([]cloud.Machine, error) {
	if g.unseen {
		return nil, cloud.Errorf(cloud.Throttled, "", "describe instances: RequestLimitExceeded: slow down")
	}
	return g.fakeCloud.List(ctx)
}

func (g *guarded) Find(ctx context.Context, ids []string) ([]cloud.Machine, error) {
	if g.unseen {
		return nil, cloud.Errorf(cloud.Throttled, "", "describe instances: RequestLimitExceeded: slow down")
	}
	return g.fakeCloud.Find(ctx, ids)
}

func (g *guarded) Terminate(ctx context.Context, ids []cloud.MachineID) []error {
	if g.free {
		return g.fakeCloud.Terminate(ctx, ids)
	}
	if g.throttled {
		return []error{cloud.Errorf(cloud.Throttled, "", "terminate i-1: RequestLimitExceeded: slow down")}
	}
	return []error{cloud.Errorf(cloud.Unauthorised, "Unauthorized", "terminate i-1: UnauthorizedOperation: not allowed")}
}

// departing is a node that goes and its claim, with the machine that g sells, and the two reconcilers at work on them.
type departing struct {
	g     *guarded
	store client.WithWatch
	claim *v1.NodeClaim
	told  *record.FakeRecorder
	live  func(seconds int)
}

func newDeparting(t *testing.T, g *guarded) departing {
	t.Helper()
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
	told := record.NewFakeRecorder(1000)
	events := loop.NewEvents(clock.Wall, told)
	state := cluster.New(clock.Wall)
	machines := terminate.NewMachines(cloud.New(cloud.Config{Driver: g}), nil, clock.Wall)
	hand := &enact.Enactor{Client: store, Cluster: state, Now: clock.Wall, Log: logr.Discard()}
	nodes := &terminate.Nodes{Client: store, Cluster: state, Machines: machines, Evictor: enact.NewEvictor(hand), Events: events, Now: clock.Wall, Log: logr.Discard()}
	claims := &terminate.Claims{Client: store, Cluster: state, Machines: machines, Events: events, Now: clock.Wall}
	return departing{g, store, claim, told, func(seconds int) {
		for range seconds { // what is refused is an error here, and tried again
			apitest.Show(t, store, state)
			_, _ = claims.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "c"}})
			_, _ = nodes.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "n"}})
			time.Sleep(time.Second)
		}
	}}
}

// ending is what the claim says of its machine's end.
func (d departing) ending(t *testing.T) metav1.Condition {
	t.Helper()
	if err := d.store.Get(t.Context(), client.ObjectKeyFromObject(d.claim), d.claim); err != nil {
		t.Fatalf("the claim is let go of while its machine runs: %v", err)
	}
	if c := d.claim.Conditions().Get(v1.ConditionInstanceTerminating); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// said counts the events that were told.
func (d departing) said() map[string]int {
	said := map[string]int{}
	for len(d.told.Events) > 0 {
		said[<-d.told.Events]++
	}
	return said
}

// A machine that may not be ended says why on its node and its claim, once, until
// it may; and nothing is let go of before.
func TestMachineThatMayNotBeEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeparting(t, &guarded{fakeCloud: fakeCloud{check: func() {}}})
		d.live(30)
		if c := d.ending(t); c.Status != metav1.ConditionFalse || c.Reason != v1.ReasonTerminationFailed || !strings.Contains(c.Message, "UnauthorizedOperation") {
			t.Errorf("the claim says %+v", c)
		}
		const want = "Warning FailedTermination The machine cannot be ended: terminate machine i-1: terminate i-1: UnauthorizedOperation: not allowed"
		if said := d.said(); said[want] != 1 {
			t.Errorf("said %v, want once of the node: %s", said, want)
		}
		d.g.free = true
		d.live(30)
		if err := d.store.Get(t.Context(), client.ObjectKeyFromObject(d.claim), d.claim); err == nil || !d.g.gone {
			t.Errorf("allowed again, the claim still has %v: %v", d.claim.GetFinalizers(), err)
		}
	})
}

// So does a claim whose node never was, or is gone.
func TestMachineWithoutNodeThatMayNotBeEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeparting(t, &guarded{fakeCloud: fakeCloud{check: func() {}}})
		n := &corev1.Node{}
		if err := d.store.Get(t.Context(), client.ObjectKey{Name: "n"}, n); err != nil {
			t.Fatal(err)
		}
		n.Finalizers = nil
		if err := errors.Join(d.store.Update(t.Context(), n), d.store.Delete(t.Context(), n)); err != nil {
			t.Fatal(err)
		}
		d.live(30)
		if c := d.ending(t); c.Reason != v1.ReasonTerminationFailed || !strings.Contains(c.Message, "UnauthorizedOperation") {
			t.Errorf("the claim says %+v", c)
		}
		const want = "Warning FailedTermination The machine cannot be ended: terminate machine i-1: terminate i-1: UnauthorizedOperation: not allowed"
		if said := d.said(); said[want] != 1 {
			t.Errorf("said %v, want once of the claim: %s", said, want)
		}
	})
}

// A drained node whose machine cannot be looked at, because that is throttled, says so after a minute on the node and its claim.
func TestMachineThatCannotBeLookedAtForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeparting(t, &guarded{fakeCloud: fakeCloud{check: func() {}}, unseen: true, free: true})
		since := time.Now().UTC().Format("2006-01-02T15:04")
		d.live(5) // the calls themselves slow down
		if c, said := d.ending(t), d.said(); c.Reason != "" || len(said) > 0 {
			t.Errorf("what passes by itself is told at once: %+v, %v", c, said)
		}
		d.live(90)
		const want = "describe instances: RequestLimitExceeded: slow down; tried since "
		if c := d.ending(t); c.Reason != v1.ReasonTerminationFailed || !strings.Contains(c.Message, want+since) {
			t.Errorf("after two minutes the claim says %+v", c)
		}
		told := slices.Sorted(maps.Keys(d.said()))
		if len(told) != 1 || !strings.HasPrefix(told[0], "Warning FailedTermination The machine cannot be ended: "+want) {
			t.Errorf("the node was told %q", told)
		}
		d.g.unseen = false
		d.live(150)
		if err := d.store.Get(t.Context(), client.ObjectKeyFromObject(d.claim), d.claim); err == nil || !d.g.gone {
			t.Errorf("answered again, the claim still has %v: %v", d.claim.GetFinalizers(), err)
		}
	})
}

// A machine whose end is throttled says nothing at first, and after a minute why it is still there, and since when.
func TestMachineWhoseEndIsThrottledForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &guarded{fakeCloud: fakeCloud{check: func() {}}, throttled: true}
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
