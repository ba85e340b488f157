package drift_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

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

// fakeCloud is a driver with one machine, whose answers can fail.
type fakeCloud struct {
	cloud.Driver
	catalog, list, drift error
	gone                 bool
	why                  cloud.Drifted
}

func (s *fakeCloud) Catalog(context.Context, cloud.Template) (world.Catalog, error) {
	return world.Catalog{Version: "1"}, s.catalog
}

func (s *fakeCloud) List(context.Context) ([]cloud.Machine, error) {
	if s.gone {
		return nil, s.list
	}
	return []cloud.Machine{{ID: "i-1", ProviderID: "test:///i-1"}}, s.list
}

func (s *fakeCloud) Find(context.Context, []string) ([]cloud.Machine, error) { return nil, s.list }

func (s *fakeCloud) Drift(context.Context, cloud.Machine, cloud.Template) (cloud.Drifted, error) {
	return s.why, s.drift
}

// A claim that has drifted stays so until it is known that it no longer has:
// what cannot be asked now takes nothing back.
func TestDriftIsNotTakenBackUnasked(t *testing.T) {
	silent := errors.New("connection refused")
	notReady := cloud.Errorf(cloud.NotReady, "SubnetsNotFound", "no subnet")
	tests := map[string]struct {
		why    string
		was    string
		sells  fakeCloud
		unsold bool
		stays  bool
	}{
		"Catalogue":   {"The catalogue cannot be had for a moment.", "AMIDrift", fakeCloud{catalog: silent, drift: silent}, false, true},
		"Recovers":    {"The driver answers although the catalogue could not be had.", "AMIDrift", fakeCloud{catalog: silent}, false, false},
		"Driver":      {"The machine cannot be compared for a moment.", "AMIDrift", fakeCloud{drift: silent}, false, true},
		"List":        {"The machine cannot be looked up for a moment.", "AMIDrift", fakeCloud{list: silent}, false, true},
		"NotReady":    {"Its class cannot be used: nothing can be compared.", "AMIDrift", fakeCloud{catalog: notReady, drift: notReady}, false, true},
		"NotThere":    {"The machine is gone, and others look after that.", "AMIDrift", fakeCloud{gone: true}, false, true},
		"Unsold":      {"Nothing is known of what is sold.", v1.ReasonInstanceTypeNotFound, fakeCloud{}, true, true},
		"Says":        {"The driver says what differs.", "SubnetDrift", fakeCloud{why: cloud.Drifted{Reason: "AMIDrift", Changed: "image: a and b"}}, false, true},
		"Over":        {"The driver says that all is well.", "AMIDrift", fakeCloud{}, false, false},
		"ObjectsOver": {"The pool wants it again, whatever the driver says.", v1.ReasonRequirementsDrifted, fakeCloud{drift: notReady}, false, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ref := v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
				id := observe.TemplateOf(ref, nil)
				c := &v1.NodeClaim{
					ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{
						v1.LabelNodePool: "p", label.InstanceType: "m5", label.Zone: "a", label.CapacityType: label.OnDemand,
					}},
					Spec: v1.NodeClaimSpec{NodeClassRef: &ref},
				}
				c.Status.ProviderID = "test:///i-1"
				c.Conditions().True(v1.ConditionRegistered, "", "", time.Now())
				c.Conditions().True(v1.ConditionDrifted, tc.was, tc.was, time.Now())
				store, state := apitest.New(t, clock.Wall, c), cluster.New(clock.Wall)
				if !tc.unsold {
					state.Publish(world.Catalog{Template: id, Shapes: []world.Shape{{Name: "m5", Offers: []world.Offer{{Zone: "a", CapacityType: label.OnDemand}}}}})
				}
				sells := cloud.New(cloud.Config{Driver: &tc.sells, Attempts: 1})
				sells.Want(cloud.Template{ID: id})
				sells.Refresh(t.Context())
				time.Sleep(2 * time.Hour)
				r := &drift.Reconciler{Client: store, Cloud: sells, Cluster: state, Now: clock.Wall}
				_, _ = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "c"}}) // one that fails is tried again
				if err := store.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
					t.Fatal(err)
				}
				if got := c.Conditions().Is(v1.ConditionDrifted); got != tc.stays {
					t.Errorf("drifted %t, want %t: %s", got, tc.stays, tc.why)
				}
				if now, want := c.Conditions().Get(v1.ConditionDrifted), tc.sells.why; want.Reason != "" && (now.Reason != want.Reason || now.Message != want.Changed) {
					t.Errorf("the condition says %q, %q; want %+v", now.Reason, now.Message, want)
				}
			})
		})
	}
}

// A pool whose change woke the reconciler is compared as it is now, though the cluster state still shows it as it was.
func TestRequirementsAreThoseOfThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ref := v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
		pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
		pool.Spec.Template.Spec.NodeClassRef = &ref
		zones := func(names ...string) []v1.Requirement {
			return []v1.Requirement{{Key: label.Zone, Operator: "In", Values: names}}
		}
		pool.Spec.Template.Spec.Requirements = zones("a", "b")
		state := cluster.New(clock.Wall)
		state.SetNodePool(pool)
		pool.Spec.Template.Spec.Requirements = zones("b")
		c := &v1.NodeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{v1.LabelNodePool: "p", label.Zone: "a"}},
			Spec:       v1.NodeClaimSpec{NodeClassRef: &ref},
		}
		c.Conditions().True(v1.ConditionRegistered, "", "", time.Now())
		store := apitest.New(t, clock.Wall, c, pool)
		r := &drift.Reconciler{Client: store, Cloud: cloud.New(cloud.Config{Driver: &fakeCloud{}, Attempts: 1}), Cluster: state, Now: clock.Wall}
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "c"}}); err != nil {
			t.Fatal(err)
		}
		if err := store.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			t.Fatal(err)
		}
		if got := c.Conditions().Get(v1.ConditionDrifted); got == nil || got.Reason != v1.ReasonRequirementsDrifted {
			t.Errorf("the condition is %+v, want %s", got, v1.ReasonRequirementsDrifted)
		}
	})
}
