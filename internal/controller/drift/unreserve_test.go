package drift_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/drift"
	"github.com/tenon-sh/tenon/internal/observe"
)

// ending is a driver with one machine, which is bought in some way.
type ending struct {
	fakeCloud

	bought string
}

func (e *ending) List(context.Context) ([]cloud.Machine, error) {
	return []cloud.Machine{{ID: "i-1", ProviderID: "test:///i-1", CapacityType: e.bought}}, nil
}

func (*ending) Drift(_ context.Context, m cloud.Machine, _ cloud.Template) (cloud.Drifted, error) {
	if m.CapacityType == label.Reserved {
		return cloud.Drifted{Reason: "CapacityReservationDrift"}, nil
	}
	return cloud.Drifted{}, nil
}

// A machine whose reservation has ended since machines were listed has not drifted: the class is newer than the list.
func TestEndedSinceTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ref := v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
		id := observe.TemplateOf(ref, nil)
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{label.CapacityType: label.Reserved}}, Spec: v1.NodeClaimSpec{NodeClassRef: &ref}}
		c.Status.ProviderID = "test:///i-1"
		c.Conditions().True(v1.ConditionRegistered, "", "", time.Now())
		store, state := apitest.New(t, clock.Wall, c), cluster.New(clock.Wall)
		state.Publish(world.Catalog{Template: id})
		driver := &ending{bought: label.Reserved}
		sells := cloud.New(cloud.Config{Driver: driver, Attempts: 1})
		sells.Want(cloud.Template{ID: id})
		sells.Refresh(t.Context())
		if _, err := sells.List(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		driver.bought = label.OnDemand
		r := &drift.Reconciler{Client: store, Cloud: sells, Cluster: state, Now: clock.Wall}
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "c"}}); err != nil {
			t.Fatal(err)
		}
		if err := store.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil || c.Conditions().Is(v1.ConditionDrifted) {
			t.Errorf("it has drifted: %v, %v", c.Status.Conditions, err)
		}
	})
}

// A machine that was on demand from the start, and one whose node has not joined, are left as they are.
func TestWhatHasNoReservation(t *testing.T) {
	for name, change := range map[string]func(*v1.NodeClaim){
		"OnDemand": func(c *v1.NodeClaim) { c.Labels[label.CapacityType] = label.OnDemand },
		"Joining":  func(c *v1.NodeClaim) { c.Status.Conditions = nil },
	} {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{label.CapacityType: label.Reserved}}}
		c.Conditions().True(v1.ConditionRegistered, "", "", time.Unix(0, 0))
		change(c)
		if drift.Unreserved(c, cloud.Machine{CapacityType: label.OnDemand}, time.Unix(1_000_000, 0)) {
			t.Errorf("%s: its reservation has ended", name)
		}
	}
}

// A machine that outlives its reservation is labelled as what it is, on its node and its claim.
func TestReservationEnds(t *testing.T) {
	reserved := map[string]string{
		label.CapacityType: label.Reserved, "karpenter.k8s.aws/capacity-reservation-id": "cr-1", "karpenter.k8s.aws/capacity-reservation-type": "default",
		"karpenter.k8s.aws/capacity-reservation-interruptible": "false",
	}
	for name, tc := range map[string]struct {
		why    string
		bought string
		after  time.Duration
		want   map[string]string
	}{
		"Lasts": {"It is still in its reservation.", label.Reserved, time.Hour, reserved},
		"Young": {"What a list says of a machine that has just joined may be old.", label.OnDemand, time.Minute, reserved},
		"Since": {"Five minutes are enough.", label.OnDemand, 5 * time.Minute, map[string]string{label.CapacityType: label.OnDemand}},
		"Ended": {"The reservation is gone.", label.OnDemand, time.Hour, map[string]string{label.CapacityType: label.OnDemand}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ref := v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
				id := observe.TemplateOf(ref, nil)
				labels := func() map[string]string {
					out := map[string]string{"team": "a"}
					for k, v := range reserved {
						out[k] = v
					}
					return out
				}
				c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: labels()}, Spec: v1.NodeClaimSpec{NodeClassRef: &ref}}
				c.Status.ProviderID, c.Status.NodeName = "test:///i-1", "node"
				c.Conditions().True(v1.ConditionRegistered, "", "", time.Now())
				n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: labels()}}
				time.Sleep(tc.after)
				store, state := apitest.New(t, clock.Wall, c, n), cluster.New(clock.Wall)
				state.Publish(world.Catalog{Template: id})
				sells := cloud.New(cloud.Config{Driver: &ending{bought: tc.bought}, Attempts: 1})
				sells.Want(cloud.Template{ID: id})
				sells.Refresh(t.Context())
				r := &drift.Reconciler{Client: store, Cloud: sells, Cluster: state, Now: clock.Wall}
				if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "c"}}); err != nil {
					t.Fatal(err)
				}
				for _, o := range []client.Object{c, n} {
					if err := store.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
						t.Fatal(err)
					}
					got := o.GetLabels()
					if got["team"] != "a" {
						t.Errorf("%s: %T lost a label: %v", tc.why, o, got)
					}
					delete(got, "team")
					if diff := cmp.Diff(tc.want, got); diff != "" {
						t.Errorf("%s: %T\n%s", tc.why, o, diff)
					}
				}
			})
		})
	}
}
