package terminate_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
	"github.com/tenon-sh/tenon/internal/enact"
)

// overtaken refuses the first write to a status after the machine has ended, as if somebody had written meanwhile.
type overtaken struct {
	client.Client
	sells   *fakeCloud
	refused bool
}

func (o *overtaken) Status() client.SubResourceWriter { return overtakenStatus{o.Client.Status(), o} }

type overtakenStatus struct {
	client.SubResourceWriter
	of *overtaken
}

func (s overtakenStatus) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	if s.of.sells.gone && !s.of.refused {
		s.of.refused = true
		return apierrors.NewConflict(schema.GroupResource{Group: "karpenter.sh", Resource: "nodeclaims"}, o.GetName(), errors.New("it has been modified"))
	}
	return s.SubResourceWriter.Patch(ctx, o, p, opts...)
}

// What becomes of a machine is said on its claim also where the write that says so is refused, and the machine is gone at the next look.
func TestTheEndIsSaidAfterAConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		claim, node := leaving()
		store := apitest.New(t, clock.Wall, claim, node)
		sells := &fakeCloud{check: func() {}}
		c := &overtaken{Client: store, sells: sells}
		state := cluster.New(clock.Wall)
		hand := &enact.Enactor{Client: c, Cluster: state, Now: clock.Wall, Log: logr.Discard()}
		nodes := &terminate.Nodes{
			Client: c, Cluster: state, Machines: terminate.NewMachines(cloud.New(cloud.Config{Driver: sells}), nil, clock.Wall),
			Evictor: enact.NewEvictor(hand), Now: clock.Wall, Log: logr.Discard(),
		}
		for _, o := range []client.Object{claim, node} {
			if err := store.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		for range 60 {
			apitest.Show(t, store, state)
			if _, err := nodes.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "n"}}); err != nil && !apierrors.IsConflict(err) {
				t.Fatal(err)
			}
			if sells.gone { // its kubelet is silent, and by the next look the cloud shows it no more
				silence(t, store)
				time.Sleep(time.Minute)
			}
			time.Sleep(time.Second) // of virtual time
		}
		if err := store.Get(t.Context(), client.ObjectKeyFromObject(node), node); !apierrors.IsNotFound(err) {
			t.Errorf("the node is left: %v", err)
		}
		if err := store.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{v1.ConditionDrained, v1.ConditionVolumesDetached, v1.ConditionInstanceTerminating} {
			if !claim.Conditions().Is(kind) {
				t.Errorf("%s is %+v", kind, claim.Conditions().Get(kind))
			}
		}
		if !c.refused {
			t.Error("no write was refused")
		}
	})
}

// silence says of the node, if it is there, that it is not ready.
func silence(t *testing.T, c client.Client) {
	t.Helper()
	n := &corev1.Node{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "n"}, n); apierrors.IsNotFound(err) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	n.Status.Conditions[0].Status = corev1.ConditionUnknown
	if err := c.Status().Update(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}
