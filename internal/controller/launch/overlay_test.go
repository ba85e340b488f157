package launch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/launch"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/sim/driver"
)

// What overlays say goes with the order: their prices decide what is bought, and
// what only they know of is not asked of the cloud and is told on the claim.
func TestOverlaidOrder(t *testing.T) {
	const device, pages = "example.com/fuse", "hugepages-2Mi"
	ref := v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
	price := "0.0001"
	tests := map[string]struct {
		why     string
		noted   bool // on the claim, that overlays had a say
		buys    string
		devices int64
	}{
		"Noted":    {"A claim that overlays had a say in.", true, "m5.4xlarge", 4},
		"NotNoted": {"One that was asked for before they came.", false, "m5.large", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			all, err := loaded()
			if err != nil {
				t.Fatal(err)
			}
			region, err := all.Region("us-west-2")
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				c := &v1.NodeClaim{
					ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: []string{v1.Finalizer}, Labels: map[string]string{v1.LabelNodePool: "p"}},
					Spec: v1.NodeClaimSpec{NodeClassRef: &ref, Requirements: []v1.Requirement{
						{Key: v1.LabelInstanceType, Operator: corev1.NodeSelectorOpIn, Values: []string{"m5.large", "m5.4xlarge"}},
						{Key: v1.LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"}},
					}},
				}
				if tc.noted {
					c.Annotations = map[string]string{v1.AnnotationPriceOverlay: "true", v1.AnnotationCapacityOverlay: "true"}
					c.Spec.Resources.Requests = corev1.ResourceList{device: resource.MustParse("1")}
				}
				store := apitest.New(t, clock.Wall, c)
				state := cluster.New(clock.Wall)
				pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
				pool.Spec.Template.Spec.NodeClassRef = &ref
				state.SetNodePool(pool)
				state.SetOverlay(&v1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: "o"}, Spec: v1alpha1.NodeOverlaySpec{
					Price: &price, Capacity: corev1.ResourceList{device: resource.MustParse("4"), pages: resource.MustParse("1Gi")},
					Requirements: []v1alpha1.Requirement{{Key: v1.LabelInstanceType, Operator: corev1.NodeSelectorOpIn, Values: []string{"m5.4xlarge"}}},
				}})
				sells := cloud.New(cloud.Config{Driver: driver.New(driver.Market(region, "m5.large", "m5.4xlarge"), "demo"), Publish: state.Publish})
				sells.Want(cloud.Template{ID: observe.TemplateOf(ref, nil)})
				sells.Refresh(t.Context())
				hand := &enact.Enactor{Client: store, Cluster: state, Now: clock.Wall, Log: logr.Discard(), Targets: &enact.Targets{}}
				r := (&launch.Reconciler{Client: store, Cloud: sells, Cluster: state, Enact: hand, Now: clock.Wall}).Alone()
				for range 10 {
					for _, name := range []string{"unordered", c.Annotations[v1.AnnotationOrder]} {
						_, _ = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
					}
					if err := store.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Second)
				}
				has := c.Status.Allocatable.Name(device, resource.DecimalSI).Value()
				if c.Labels[v1.LabelInstanceType] != tc.buys || has != tc.devices {
					t.Errorf("%s It is %s with %d devices, want %s with %d", tc.why, c.Labels[v1.LabelInstanceType], has, tc.buys, tc.devices)
				}
				free, whole := c.Status.Allocatable.Memory().Value(), c.Status.Capacity.Memory().Value()
				if plain := whole - free; tc.noted && plain < 1<<30 {
					t.Errorf("huge pages are not cut from memory: %d of %d bytes are free", free, whole)
				}
			})
		})
	}
}
