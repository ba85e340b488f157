package cluster_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/observe"
)

func overlay(name, price string, key string, values ...string) *v1alpha1.NodeOverlay {
	return &v1alpha1.NodeOverlay{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec: v1alpha1.NodeOverlaySpec{
			Price: &price, Requirements: []v1alpha1.Requirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}},
		},
	}
}

// prices are what every pool sees of the one offer there is.
func prices(w *world.World) map[string]money.Micro {
	out := map[string]money.Micro{}
	for _, p := range w.Pools() {
		if c := w.CatalogFor(p.ID, p.Template); c != nil {
			out[p.ID.Name] = c.Shapes[0].Offers[0].Price
		}
	}
	return out
}

// What pools see through overlays is the same in whatever order catalogues,
// pools and overlays come and go.
func TestOverlays(t *testing.T) {
	ref := v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
	catalog := world.Catalog{Template: observe.TemplateOf(ref, nil), Shapes: []world.Shape{{
		Name: "m5.large", Labels: label.SetOf(label.Is(label.InstanceType, "m5.large")), Offers: []world.Offer{{Zone: "a", CapacityType: "spot", Price: 7}},
	}}}
	pool := func(name string) *v1.NodePool {
		p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
		p.Spec.Template.Spec.NodeClassRef = &ref
		return p
	}
	c := cluster.New(clock.At(noon))
	see := func(why string, want map[string]money.Micro) {
		t.Helper()
		if diff := cmp.Diff(want, prices(c.World())); diff != "" {
			t.Errorf("%s: -want +got\n%s", why, diff)
		}
	}
	c.SetNodePool(pool("blue"))
	c.SetOverlay(overlay("cheap", "1", label.NodePool, "blue"))
	c.Publish(catalog)
	c.SetNodePool(pool("red"))
	see("only one pool sees it", map[string]money.Micro{"blue": 1_000_000, "red": 7})
	plain := c.World().Catalog(catalog.Template)
	if plain.Shapes[0].Offers[0].Price != 7 {
		t.Error("the catalogue of the template itself was changed")
	}

	c.SetOverlay(overlay("dear", "2", label.InstanceType, "m5.large"))
	see("of two of one weight the later name stays, for all pools", map[string]money.Micro{"blue": 2_000_000, "red": 2_000_000})
	if v, ok := c.Overlay("cheap"); !ok || v.Against != "dear" || v.Wrong != "" {
		t.Errorf("it is not told which overlay is left out: %+v", v)
	}
	c.DeleteOverlay("dear")
	see("the first is back", map[string]money.Micro{"blue": 1_000_000, "red": 7})
	if v, ok := c.Overlay("cheap"); !ok || v.Against != "" {
		t.Errorf("nothing contradicts it any more, and it is told that %+v", v)
	}

	again := catalog
	again.Shapes = []world.Shape{catalog.Shapes[0]}
	again.Shapes[0].Offers = []world.Offer{{Zone: "b", CapacityType: "spot", Price: 8}}
	c.Publish(again)
	see("a new catalogue is seen through the same overlays", map[string]money.Micro{"blue": 1_000_000, "red": 8})
	c.Withdraw(catalog.Template, "the class is gone")
	see("nothing is sold", map[string]money.Micro{})
	c.Publish(again)
	c.DeleteOverlay("cheap")
	see("without overlays all see the same", map[string]money.Micro{"blue": 8, "red": 8})

	fresh := cluster.New(clock.At(noon))
	fresh.Publish(again)
	fresh.SetNodePool(pool("blue"))
	fresh.SetNodePool(pool("red"))
	if c.World().Digest() != fresh.World().Digest() {
		t.Error("overlays that are gone left something behind")
	}
}

// An overlay that cannot be read changes nothing and says why; one that takes
// the name of another is looked at again.
func TestUnreadableOverlay(t *testing.T) {
	c := cluster.New(clock.At(noon))
	c.SetOverlay(overlay("a", "cheap", label.InstanceType, "m5.large"))
	if v, ok := c.Overlay("a"); !ok || !strings.Contains(v.Wrong, `"cheap" is no price`) {
		t.Errorf("it is not told what is wrong: %+v", v)
	}
	next := overlay("a", "1", label.InstanceType, "m5.large")
	next.UID = "another"
	c.SetOverlay(next)
	if v, ok := c.Overlay("a"); !ok || v.Wrong != "" {
		t.Errorf("what was wrong of an older one is told of the next: %+v", v)
	}
	c.DeleteOverlay("a")
	if _, ok := c.Overlay("a"); ok {
		t.Error("it is still there")
	}
}
