package terminate_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
	"github.com/tenon-sh/tenon/internal/enact"
)

// fakeCloud has one machine, until it is ended.
type fakeCloud struct {
	gone  bool
	check func() // what must hold when the machine is ended
	freed int    // so often it was told that a machine of a reservation has ended
}

func (s *fakeCloud) Freed() { s.freed++ }

func (s *fakeCloud) Catalog(context.Context, cloud.Template) (world.Catalog, error) {
	return world.Catalog{}, nil
}
func (s *fakeCloud) Launch(context.Context, []cloud.Order) []cloud.Outcome { return nil }
func (s *fakeCloud) Drift(context.Context, cloud.Machine, cloud.Template) (cloud.Drifted, error) {
	return cloud.Drifted{}, nil
}

func (s *fakeCloud) List(context.Context) ([]cloud.Machine, error) {
	if s.gone {
		return nil, nil
	}
	return []cloud.Machine{{ID: "i-1", ProviderID: "test:///i-1"}}, nil
}

func (s *fakeCloud) Find(_ context.Context, ids []string) ([]cloud.Machine, error) {
	if s.gone || !slices.Contains(ids, "test:///i-1") {
		return nil, nil
	}
	return []cloud.Machine{{ID: "i-1", ProviderID: "test:///i-1"}}, nil
}

func (*fakeCloud) Complete(_ context.Context, _ cloud.Template, machines []cloud.Machine) ([]cloud.Machine, error) {
	return machines, nil
}

func (s *fakeCloud) Terminate(_ context.Context, ids []cloud.MachineID) []error {
	s.check()
	s.gone = true
	return make([]error, len(ids))
}

// leaving are a claim and its node, of the machine that a cloud has.
func leaving() (*v1.NodeClaim, *corev1.Node) {
	const id = "test:///i-1"
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Finalizers: []string{v1.Finalizer}}}
	claim.Status.ProviderID, claim.Status.NodeName = id, "n"
	claim.Conditions().True(v1.ConditionLaunched, "", "", time.Now())
	claim.Conditions().True(v1.ConditionRegistered, "", "", time.Now())
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Finalizers: []string{v1.Finalizer}}, Spec: corev1.NodeSpec{ProviderID: id},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	return claim, node
}

// Wherever a process is killed while a node goes, the next one ends the machine,
// and only then lets go of the objects.
func TestKilledAtEachWrite(t *testing.T) {
	if writes := apitest.EachDeath(t, departure); writes < 4 {
		t.Errorf("a node that goes has %d writes, want more", writes)
	}
}

func departure(t *testing.T, life *apitest.Life) {
	claim, node := leaving()
	store := apitest.New(t, clock.Wall, claim, node)
	sells := &fakeCloud{check: func() {
		n := &corev1.Node{}
		if err := store.Get(t.Context(), client.ObjectKey{Name: "n"}, n); err != nil || len(n.Spec.Taints) == 0 {
			t.Errorf("the machine ends while its node has taints %v: %v", n.Spec.Taints, err)
		}
	}}
	if err := store.Delete(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	live(t, store, life.Client(store), sells)
	live(t, store, store, sells)
	for _, o := range []client.Object{claim, node} {
		if err := store.Get(t.Context(), client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
			t.Errorf("%T is left with %v: %v", o, o.GetFinalizers(), err)
		}
	}
	if !sells.gone {
		t.Error("the machine runs on")
	}
}

// live has one process, which reaches a store through c, do its work for a minute.
func live(t *testing.T, store client.Reader, c client.Client, s *fakeCloud) {
	t.Helper()
	state := cluster.New(clock.Wall)
	machines := terminate.NewMachines(cloud.New(cloud.Config{Driver: s}), nil, clock.Wall)
	hand := &enact.Enactor{Client: c, Cluster: state, Now: clock.Wall, Log: logr.Discard()}
	nodes := &terminate.Nodes{Client: c, Cluster: state, Machines: machines, Evictor: enact.NewEvictor(hand), Now: clock.Wall, Log: logr.Discard()}
	claims := &terminate.Claims{Client: c, Cluster: state, Machines: machines, Now: clock.Wall}
	for range 60 {
		apitest.Show(t, store, state)
		apitest.Step(t, claims, "c")
		apitest.Step(t, nodes, "n")
		time.Sleep(time.Second) // of virtual time
	}
}
