package app_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/driver"
)

// Pods that ask for a device of which only an overlay knows get the machine
// that overlays make the cheapest, and two that contradict each other are told.
func TestOverlays(t *testing.T) {
	m := region(t)
	play(t, m)
	h := fixture{client: kubetest.Client(t, v1.AddToScheme, v1alpha1.AddToScheme), market: m, driver: driver.New(m, "test")}
	h.settings = func(s *app.Settings) { s.Gates.NodeOverlay = true }
	h = h.start(t)
	ns := kubetest.Namespace(t)

	const device = "example.com/fuse"
	price := "0.0001"
	overlay := func(name string) *v1alpha1.NodeOverlay {
		return &v1alpha1.NodeOverlay{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1alpha1.NodeOverlaySpec{
				Price: &price, Capacity: corev1.ResourceList{device: resource.MustParse("4")},
				Requirements: []v1alpha1.Requirement{{Key: v1.LabelInstanceType, Operator: corev1.NodeSelectorOpIn, Values: []string{"m5.4xlarge"}}},
			},
		}
	}
	stands := func(o *v1alpha1.NodeOverlay, want string) {
		t.Helper()
		kubetest.Within(t, time.Minute, func() error {
			if err := h.client.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
				return err
			}
			c := o.Conditions().Get(v1alpha1.ConditionValidationSucceeded)
			if c == nil || c.Reason != want || c.ObservedGeneration != o.Generation {
				return fmt.Errorf("overlay %s stands at %+v, want %s", o.Name, o.Status.Conditions, want)
			}
			return nil
		})
	}
	p, b := pool("overlaid"), overlay("b")
	h.make(t, p, b)
	stands(b, v1alpha1.ConditionValidationSucceeded)
	a := overlay("a")
	h.make(t, a)
	stands(a, v1alpha1.ReasonConflict)
	stands(b, v1alpha1.ConditionValidationSucceeded)

	d := deployment(ns, "web", 1, "500m")
	d.Spec.Template.Spec.Containers[0].Resources.Requests[device] = resource.MustParse("1")
	d.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{device: resource.MustParse("1")}
	h.make(t, d)
	kubetest.Within(t, time.Minute, func() error {
		claims, err := h.claims()
		if err != nil || len(claims) != 1 {
			return fmt.Errorf("%d claims, want 1: %v", len(claims), err)
		}
		c := &claims[0]
		if !c.Conditions().Is(v1.ConditionLaunched) || c.Labels[v1.LabelInstanceType] != "m5.4xlarge" || c.Status.Allocatable.Name(device, resource.DecimalSI).Value() != 4 {
			return fmt.Errorf("claim of type %q can hold %v: %+v", c.Labels[v1.LabelInstanceType], c.Status.Allocatable, c.Status.Conditions)
		}
		for _, key := range []string{v1.AnnotationPriceOverlay, v1.AnnotationCapacityOverlay} {
			if c.Annotations[key] != "true" {
				return fmt.Errorf("the claim does not say %s", key)
			}
		}
		return nil
	})
	h.clear(t, d, p, a, b)
}
