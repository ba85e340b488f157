package pool_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/controller/pool"
)

func TestUnsold(t *testing.T) {
	catalog := world.Catalog{Template: "t", Shapes: []world.Shape{
		{Name: "m5.large", Labels: label.SetOf(label.Is("family", "m5")), Offers: []world.Offer{{Zone: "a", CapacityType: label.OnDemand, Gone: true}}},
		{Name: "c5.large", Labels: label.SetOf(label.Is("family", "c5")), Offers: []world.Offer{{Zone: "b", CapacityType: label.OnDemand}}},
	}}
	const none = "requirements filtered out all instance types: "
	tests := map[string]struct {
		why      string
		template world.TemplateID
		want     label.Set
		says     string
	}{
		"Sold":     {"One type meets it.", "t", label.SetOf(label.Is("family", "c5")), ""},
		"SoldOut":  {"That there is none now is not the pool's fault.", "t", label.SetOf(label.Is("family", "m5")), ""},
		"OwnLabel": {"A label of the user's own does not concern types.", "t", label.SetOf(label.Is("team", "a")), ""},
		"Unknown":  {"Nothing is known of what is sold.", "other", label.SetOf(label.Is("family", "x")), ""},
		"Nothing":  {"Its catalogue is empty: that is no fault of what it asks for.", "empty", label.SetOf(label.Is("family", "x")), ""},
		"Type":     {"Types by name count as well.", "t", label.SetOf(label.Is(label.InstanceType, "r5.large")), none + "none meets node.kubernetes.io/instance-type In [r5.large]"},
		"Alone":    {"What cannot be met is named, and nothing else.", "t", label.SetOf(label.Is("family", "x"), label.Is(label.Zone, "a")), none + "none meets family In [x]"},
		"Offers":   {"Zones and ways of buying count as types do.", "t", label.SetOf(label.Is(label.CapacityType, label.Spot)), none + "none meets karpenter.sh/capacity-type In [spot]"},
		"Together": {"Each by itself could be met.", "t", label.SetOf(label.Is("family", "m5"), label.Is(label.Zone, "b")), none + "each can be met, and no type meets all of them"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			p := world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "p"}, Template: tc.template, Requirements: tc.want}
			if err := b.SetPool(p); err != nil {
				t.Fatal(err)
			}
			if err := b.SetCatalog(catalog); err != nil {
				t.Fatal(err)
			}
			if err := b.SetCatalog(world.Catalog{Template: "empty"}); err != nil {
				t.Fatal(err)
			}
			w := b.Snapshot(1)
			if says := pool.Unsold(w, w.Pool(p.ID)); says != tc.says {
				t.Errorf("it says %q, want %q: %s", says, tc.says, tc.why)
			}
		})
	}
}
