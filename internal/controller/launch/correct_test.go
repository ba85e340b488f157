package launch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// What only overlays know is not asked of the cloud, and not forgotten either: what a machine is started with may depend on it.
func TestOverlaidRequests(t *testing.T) {
	const device = "eks.amazonaws.com/nip-slots"
	catalog := func(s world.Shape) *world.Catalog { return &world.Catalog{Shapes: []world.Shape{s}} }
	said := world.Shape{Name: "m5.large", Capacity: amount.List{}.With(amount.CPU, 2*amount.Unit)}
	seen := world.Shape{Name: "m5.large", Capacity: said.Capacity.With(device, 4*amount.Unit).With("other", amount.Unit), Overlaid: true}
	o := cloud.Order{Menu: []string{"m5.large"}, Requests: amount.List{}.With(amount.CPU, amount.Unit).With(device, 2*amount.Unit)}
	overlays{catalog(said), catalog(seen)}.correct(&o)
	if diff := cmp.Diff(amount.List{}.With(amount.CPU, amount.Unit), o.Requests); diff != "" {
		t.Error("asked of the cloud, -want +got:\n", diff)
	}
	if diff := cmp.Diff(amount.List{}.With(device, 2*amount.Unit), o.Overlaid); diff != "" {
		t.Error("known to overlays, -want +got:\n", diff)
	}
}
