package terminate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// A claim that ends before its node registered waits until its machine would be
// listed. A clock that was set back by an hour meanwhile does not make that an hour.
func TestClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "1", Finalizers: []string{v1.Finalizer}}}
		claim.Status.ProviderID = "test:///i-1"
		claim.Conditions().True(v1.ConditionLaunched, "", "", time.Now())
		store, state := apitest.New(t, clock.Wall, claim), cluster.New(clock.Wall)
		back := func() time.Time { return time.Now().Add(-time.Hour) }
		sells := &silent{fakeCloud: fakeCloud{check: func() {}, gone: true}}
		claims := &terminate.Claims{Client: store, Cluster: state, Machines: terminate.NewMachines(cloud.New(cloud.Config{Driver: sells}), nil, back), Now: back}
		if err := store.Delete(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		gone := func(span time.Duration) bool {
			for range int(span / time.Second) {
				apitest.Show(t, store, state)
				apitest.Step(t, claims, "c")
				time.Sleep(time.Second)
			}
			return apierrors.IsNotFound(store.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
		}
		if gone(cloud.Unlisted - 2*time.Second) {
			t.Error("the claim is gone before its machine would be listed")
		}
		if !gone(time.Minute) {
			t.Error("two minutes later the claim still waits for the old time")
		}
	})
}

// A node has the time that its claim grants it, although the clock is set ahead
// by an hour meanwhile; and no more than that.
func TestClockSetAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const id, grace = "test:///i-1", 30 * time.Minute
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "1", Finalizers: []string{v1.Finalizer}}}
		claim.Spec.TerminationGracePeriod = &metav1.Duration{Duration: grace}
		claim.Status.ProviderID, claim.Status.NodeName = id, "n"
		claim.Conditions().True(v1.ConditionLaunched, "", "", time.Now())
		claim.Conditions().True(v1.ConditionRegistered, "", "", time.Now())
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n", Finalizers: []string{v1.Finalizer}}, Spec: corev1.NodeSpec{ProviderID: id},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", Annotations: map[string]string{v1.AnnotationDoNotDisrupt: "true"}},
			Spec:       corev1.PodSpec{NodeName: "n", TerminationGracePeriodSeconds: new(int64)}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
		}
		store := apitest.New(t, clock.Wall, claim, node, pod)
		ahead := time.Duration(0)
		now := func() time.Time { return apitest.Set(time.Now(), ahead) }
		state := cluster.New(clock.Wall)
		machines := terminate.NewMachines(cloud.New(cloud.Config{Driver: &fakeCloud{check: func() {}}}), nil, now)
		hand := &enact.Enactor{Client: store, Cluster: state, Events: (*loop.Events)(nil), Now: now, Log: logr.Discard()}
		nodes := &terminate.Nodes{Client: store, Cluster: state, Machines: machines, Evictor: enact.NewEvictor(hand), Now: now, Log: logr.Discard()}
		if err := store.Delete(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		there := func() bool {
			apitest.Show(t, store, state)
			apitest.Step(t, nodes, "n")
			return store.Get(t.Context(), client.ObjectKeyFromObject(pod), pod) == nil
		}
		for time.Since(began) < grace+time.Minute {
			if !there() {
				break
			}
			if time.Since(began) > grace/2 {
				ahead = time.Hour
			}
			time.Sleep(time.Second)
		}
		if lasted := time.Since(began); lasted < grace-time.Second || lasted > grace+5*time.Second {
			t.Errorf("the pod had %v of the %v that its node has", lasted, grace)
		}
	})
}
