package observe_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

func overlay(name string, weight int32, price, adjust string, requirements ...v1alpha1.Requirement) *v1alpha1.NodeOverlay {
	o := &v1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.NodeOverlaySpec{Weight: &weight, Requirements: requirements}}
	if price != "" {
		o.Spec.Price = &price
	}
	if adjust != "" {
		o.Spec.PriceAdjustment = &adjust
	}
	return o
}

func in(key string, values ...string) v1alpha1.Requirement {
	return v1alpha1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

func TestOverlaid(t *testing.T) {
	catalog := world.Catalog{Shapes: []world.Shape{{
		Name: "m5.large", Labels: label.SetOf(label.Is(label.InstanceType, "m5.large")),
		Offers: []world.Offer{{Zone: "a", CapacityType: "on-demand", Price: 100_000}, {Zone: "a", CapacityType: "spot", Price: 40_000}},
	}}}
	tests := map[string]struct {
		why      string
		overlays []*v1alpha1.NodeOverlay
		want     []int64
	}{
		"Price":       {"A price takes the place of all that match.", []*v1alpha1.NodeOverlay{overlay("a", 1, "0.05", "", in(label.CapacityType, "on-demand"))}, []int64{50_000, 40_000}},
		"Share":       {"A share adjusts.", []*v1alpha1.NodeOverlay{overlay("a", 1, "", "+10%", in(label.InstanceType, "m5.large"))}, []int64{110_000, 44_000}},
		"Floor":       {"No price falls below zero.", []*v1alpha1.NodeOverlay{overlay("a", 1, "", "-1", in(label.InstanceType, "m5.large"))}, []int64{0, 0}},
		"Weight":      {"The heavier wins, the lighter fills what it leaves.", []*v1alpha1.NodeOverlay{overlay("a", 1, "9", "", in(label.InstanceType, "m5.large")), overlay("b", 5, "1", "", in(label.CapacityType, "spot"))}, []int64{9_000_000, 1_000_000}},
		"OtherPool":   {"An overlay may name its pool.", []*v1alpha1.NodeOverlay{overlay("a", 1, "9", "", in(label.NodePool, "another"))}, []int64{100_000, 40_000}},
		"UnknownType": {"What matches nothing changes nothing.", []*v1alpha1.NodeOverlay{overlay("a", 1, "9", "", in(label.InstanceType, "x"))}, []int64{100_000, 40_000}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var list []observe.Overlay
			for _, o := range tc.overlays {
				v, err := observe.NodeOverlay(o)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, v)
			}
			got := observe.Overlaid(catalog, world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "general"}}, list)
			prices := []int64{got.Shapes[0].Offers[0].Price, got.Shapes[0].Offers[1].Price}
			if diff := cmp.Diff(tc.want, prices); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
		})
	}
	if catalog.Shapes[0].Offers[0].Price != 100_000 {
		t.Error("the catalogue itself was changed")
	}
}

func TestOverlayCapacity(t *testing.T) {
	o := overlay("a", 1, "", "", in(label.InstanceType, "m5.large"))
	o.Spec.Capacity = corev1.ResourceList{"smarter-devices/fuse": resource.MustParse("8")}
	v, err := observe.NodeOverlay(o)
	if err != nil {
		t.Fatal(err)
	}
	c := world.Catalog{Shapes: []world.Shape{{Name: "m5.large", Labels: label.SetOf(label.Is(label.InstanceType, "m5.large")), Offers: []world.Offer{{Zone: "a", CapacityType: "spot"}}}}}
	if got := observe.Overlaid(c, world.Pool{}, []observe.Overlay{v}).Shapes[0].Capacity.Value("smarter-devices/fuse"); got != 8000 {
		t.Errorf("%d thousandths of the device, want 8000", got)
	}
}

func TestNodeOverlayRefuses(t *testing.T) {
	for name, o := range map[string]*v1alpha1.NodeOverlay{
		"NoNumber": overlay("a", 1, "cheap", ""), "Negative": overlay("a", 1, "-1", ""), "NoSign": overlay("a", 1, "", "10%"), "Both": overlay("a", 1, "1", "+1"),
	} {
		if _, err := observe.NodeOverlay(o); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
