package terminate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
	"github.com/tenon-sh/tenon/internal/enact"
)

// The machine of a node that the cluster state does not show, because the node cannot be
// read or has not been yet, is not ended: whatever runs there cannot be seen.
func TestANodeThatIsNotSeenIsNotEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const id = "test:///i-1"
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Finalizers: []string{v1.Finalizer}}}
		claim.Status.ProviderID, claim.Status.NodeName = id, "n"
		claim.Conditions().True(v1.ConditionLaunched, "", "", time.Now())
		claim.Conditions().True(v1.ConditionRegistered, "", "", time.Now())
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n", Finalizers: []string{v1.Finalizer}}, Spec: corev1.NodeSpec{ProviderID: id},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		}
		store := apitest.New(t, clock.Wall, claim, node)
		sells := &fakeCloud{check: func() {}}
		state := cluster.New(clock.Wall)
		machines := terminate.NewMachines(cloud.New(cloud.Config{Driver: sells}), nil, clock.Wall)
		hand := &enact.Enactor{Client: store, Cluster: state, Now: clock.Wall, Log: logr.Discard()}
		nodes := &terminate.Nodes{Client: store, Cluster: state, Machines: machines, Evictor: enact.NewEvictor(hand), Now: clock.Wall, Log: logr.Discard()}
		if err := store.Delete(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		live := func() {
			for range 60 {
				apitest.Step(t, nodes, "n")
				time.Sleep(time.Second) // of virtual time
			}
		}
		live()
		if sells.gone {
			t.Fatal("the machine of a node that cannot be seen is ended")
		}
		apitest.Show(t, store, state)
		live()
		if !sells.gone {
			t.Error("the node is seen, and empty, and its machine runs on")
		}
	})
}

// A machine of a reservation gives its place back when it has ended, and the cloud is told.
func TestAPlaceIsGivenBack(t *testing.T) {
	for kind, want := range map[string]int{"reserved": 1, "on-demand": 0} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Finalizers: []string{v1.Finalizer}, Labels: map[string]string{v1.LabelCapacityType: kind}}}
				claim.Status.ProviderID = "test:///i-1"
				store, state := apitest.New(t, clock.Wall, claim), cluster.New(clock.Wall)
				sells := &fakeCloud{}
				sells.check = func() {
					if sells.freed > 0 {
						t.Error("the place is given back while the machine runs")
					}
				}
				claims := &terminate.Claims{Client: store, Cluster: state, Machines: terminate.NewMachines(cloud.New(cloud.Config{Driver: sells, Now: clock.Wall}), nil, clock.Wall), Now: clock.Wall}
				if err := store.Delete(t.Context(), claim); err != nil {
					t.Fatal(err)
				}
				for range 60 {
					apitest.Show(t, store, state)
					apitest.Step(t, claims, "c")
					time.Sleep(time.Second) // of virtual time
				}
				if !sells.gone || sells.freed != want {
					t.Errorf("ended: %t; given back %d times, want %d", sells.gone, sells.freed, want)
				}
			})
		})
	}
}
