package observe_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
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

// large is a catalogue of one type, on sale in two ways.
func large() world.Catalog {
	return world.Catalog{Shapes: []world.Shape{{
		Name: "m5.large", Labels: label.SetOf(label.Is(label.InstanceType, "m5.large")),
		Capacity: amount.Of(amount.Entry{Name: amount.Memory, Value: 8 << 30 * amount.Unit}),
		Offers:   []world.Offer{{Zone: "a", CapacityType: "on-demand", Price: 100_000, Synthetic: true}, {Zone: "a", CapacityType: "spot", Price: 40_000}},
	}}}
}

// overlaysOf reads them.
func overlaysOf(t *testing.T, overlays ...*v1alpha1.NodeOverlay) []observe.Overlay {
	t.Helper()
	out := make([]observe.Overlay, 0, len(overlays))
	for _, o := range overlays {
		v, err := observe.NodeOverlay(o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func TestLay(t *testing.T) {
	type set = []*v1alpha1.NodeOverlay
	is := in(label.InstanceType, "m5.large")
	tests := map[string]struct {
		why      string
		overlays set
		want     []money.Micro // nil: the view stays as it is
		against  map[string]string
	}{
		"Price":       {"A price takes the place of all that match.", set{overlay("a", 1, "0.05", "", in(label.CapacityType, "on-demand"))}, []money.Micro{50_000, 40_000}, nil},
		"Share":       {"A share adjusts.", set{overlay("a", 1, "", "+10%", is)}, []money.Micro{110_000, 44_000}, nil},
		"Amount":      {"So does an amount.", set{overlay("a", 1, "", "-0.03", is)}, []money.Micro{70_000, 10_000}, nil},
		"Floor":       {"No price falls below zero.", set{overlay("a", 1, "", "-1", is)}, []money.Micro{0, 0}, nil},
		"Weight":      {"The heavier wins, the lighter fills what it leaves.", set{overlay("a", 1, "9", "", is), overlay("b", 5, "1", "", in(label.CapacityType, "spot"))}, []money.Micro{9_000_000, 1_000_000}, nil},
		"OtherPool":   {"An overlay may name its pool.", set{overlay("a", 1, "9", "", in(label.NodePool, "another"))}, nil, nil},
		"ItsPool":     {"An overlay may name its pool, and labels of its nodes.", set{overlay("a", 1, "9", "", in(label.NodePool, "general"), in("team", "blue"))}, []money.Micro{9_000_000, 9_000_000}, nil},
		"UnknownType": {"What matches nothing changes nothing.", set{overlay("a", 1, "9", "", in(label.InstanceType, "x"))}, nil, nil},
		"NotIn":       {"A type that lacks a label is not among its values.", set{overlay("a", 1, "9", "", v1alpha1.Requirement{Key: "example.com/x", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"y"}})}, []money.Micro{9_000_000, 9_000_000}, nil},
		"Conflict": {
			"Of two of one weight that set the same price, the one whose name comes first is left out, everywhere.",
			set{overlay("a", 1, "9", "", is), overlay("b", 1, "1", "", in(label.CapacityType, "spot"))},
			[]money.Micro{100_000, 1_000_000},
			map[string]string{"a": "b"},
		},
		"ConflictBelow": {
			"They contradict each other even where a heavier one has set the price.",
			set{overlay("a", 1, "9", "", is), overlay("b", 1, "1", "", is), overlay("c", 2, "2", "", is)},
			[]money.Micro{2_000_000, 2_000_000},
			map[string]string{"a": "b"},
		},
		"SideBySide": {
			"Two of one weight that set different things get on.",
			set{overlay("a", 1, "9", "", in(label.CapacityType, "on-demand")), overlay("b", 1, "1", "", in(label.CapacityType, "spot"))},
			[]money.Micro{9_000_000, 1_000_000},
			nil,
		},
		"LeftOut": {
			"What is left out contradicts nothing.",
			set{overlay("a", 1, "1", "", in(label.CapacityType, "on-demand")), overlay("b", 1, "9", "", is), overlay("c", 1, "2", "", in(label.CapacityType, "spot"))},
			[]money.Micro{1_000_000, 2_000_000},
			map[string]string{"b": "c"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			catalog := large()
			pool := world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "general"}, Labels: map[string]string{"team": "blue"}}
			changed, against := observe.Lay([]observe.View{{Pool: pool, Catalog: catalog}}, overlaysOf(t, tc.overlays...))
			var prices []money.Micro
			for _, v := range changed {
				for _, o := range v.Catalog.Shapes[0].Offers {
					prices = append(prices, o.Price)
				}
			}
			if diff := cmp.Diff(tc.want, prices); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
			if diff := cmp.Diff(tc.against, against, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
			if diff := cmp.Diff(large(), catalog); diff != "" {
				t.Errorf("the catalogue itself was changed\n%s", diff)
			}
		})
	}
}

// A type in preview has no price: an overlay that names it gives it one, and no other overlay has it bought.
func TestLayPreview(t *testing.T) {
	is := in(label.InstanceType, "m5.large")
	type set = []*v1alpha1.NodeOverlay
	for name, tc := range map[string]struct {
		why      string
		overlays set
		want     []money.Micro // of what is sold then
		against  map[string]string
	}{
		"None":      {"It is not known what it costs.", nil, []money.Micro{40_000}, nil},
		"Named":     {"Its offers have the price.", set{overlay("a", 1, "0.05", "", is)}, []money.Micro{50_000, 50_000}, nil},
		"OneWay":    {"More may be required of it.", set{overlay("a", 1, "0.05", "", is, in(label.CapacityType, "on-demand"))}, []money.Micro{50_000, 40_000}, nil},
		"Elsewhere": {"What is said of other offers says nothing of it.", set{overlay("a", 1, "0.05", "", is, in(label.CapacityType, "spot"))}, []money.Micro{50_000}, nil},
		"Adjusted":  {"What is not known cannot be adjusted.", set{overlay("a", 1, "", "+10%", is)}, []money.Micro{44_000}, nil},
		"Both":      {"Once it has a price that can be adjusted, which a lighter overlay does not.", set{overlay("a", 2, "0.05", "", is), overlay("b", 1, "", "+10%", is)}, []money.Micro{50_000, 50_000}, nil},
		"Many":      {"One for many is not meant for what is not sold.", set{overlay("a", 1, "0.05", "", in(label.CapacityType, "on-demand", "spot"))}, []money.Micro{50_000}, nil},
		"Not":       {"To name others is not to name it.", set{overlay("a", 1, "0.05", "", v1alpha1.Requirement{Key: label.InstanceType, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"x"}})}, []money.Micro{50_000}, nil},
		"ManyBeside": {
			"One for many contradicts no other where it sets nothing.",
			set{overlay("a", 1, "0.05", "", in(label.CapacityType, "on-demand")), overlay("b", 1, "0.07", "", is)},
			[]money.Micro{70_000, 70_000},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := large()
			catalog.Template = "t"
			catalog.Shapes[0].Offers[0] = world.Offer{Zone: "a", CapacityType: "on-demand", Unpriced: true}
			changed, against := observe.Lay([]observe.View{{Pool: world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "general"}}, Catalog: catalog}}, overlaysOf(t, tc.overlays...))
			for _, v := range changed {
				catalog = v.Catalog
			}
			b := world.NewBuilder()
			if err := b.SetCatalog(catalog); err != nil {
				t.Fatal(err)
			}
			var prices []money.Micro
			for _, s := range b.Snapshot(1).Catalog("t").Shapes {
				for _, o := range s.Offers {
					prices = append(prices, o.Price)
				}
			}
			if diff := cmp.Diff(tc.want, prices); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
			if diff := cmp.Diff(tc.against, against, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
		})
	}
}

// A resource is added, or takes the place of what the cloud says; the heavier
// overlay wins, and huge pages are cut from memory.
func TestLayCapacity(t *testing.T) {
	is := in(label.InstanceType, "m5.large")
	one, two := overlay("a", 1, "", "", is), overlay("b", 2, "", "", is)
	one.Spec.Capacity = corev1.ResourceList{"smarter-devices/fuse": resource.MustParse("8"), "hugepages-2Mi": resource.MustParse("1Gi")}
	two.Spec.Capacity = corev1.ResourceList{"smarter-devices/fuse": resource.MustParse("9")}
	changed, against := observe.Lay([]observe.View{{Catalog: large()}}, overlaysOf(t, one, two))
	if len(against) > 0 || len(changed) != 1 {
		t.Fatalf("%d views changed, contradictions %v", len(changed), against)
	}
	s, plain := changed[0].Catalog.Shapes[0], large().Shapes[0]
	if got := s.Capacity.Value("smarter-devices/fuse"); got != 9000 {
		t.Errorf("%d thousandths of the device, want those of the heavier, 9000", got)
	}
	less := plain.Allocatable().Value(amount.Memory) - s.Allocatable().Value(amount.Memory)
	if pages := s.Allocatable().Value("hugepages-2Mi"); pages != 1<<30*amount.Unit || less != pages {
		t.Errorf("%d of huge pages cost %d of memory", pages, less)
	}
	if !s.Overlaid || s.Offers[0].Overlaid {
		t.Error("capacity is overlaid and prices are not, and that is not told")
	}
}

func TestNodeOverlayRefuses(t *testing.T) {
	for name, o := range map[string]*v1alpha1.NodeOverlay{
		"NoNumber": overlay("a", 1, "cheap", ""), "Negative": overlay("a", 1, "-1", ""), "NoSign": overlay("a", 1, "", "10%"), "Both": overlay("a", 1, "1", "+1"),
		"NaN": overlay("a", 1, "NaN", ""), "NaNMore": overlay("a", 1, "", "+NaN"), "Inf": overlay("a", 1, "Inf", ""), "InfLess": overlay("a", 1, "", "-Inf%"),
	} {
		if _, err := observe.NodeOverlay(o); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
