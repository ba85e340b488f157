package launch

import (
	"slices"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// overlays is what NodeOverlays say of a catalogue: what the cloud says of its
// machines, and what their pool sees. Where nothing is known, both are empty.
type overlays struct{ said, seen *world.Catalog }

// overlaid is what NodeOverlays said of a claim's machines when it was made,
// and still say.
func (r *Reconciler) overlaid(c *v1.NodeClaim, pool world.PoolID, template world.TemplateID) overlays {
	if c.Annotations[v1.AnnotationPriceOverlay] == "" && c.Annotations[v1.AnnotationCapacityOverlay] == "" {
		return overlays{}
	}
	return overlays{r.Cluster.Published(template), r.Cluster.World().CatalogFor(pool, template)}
}

// correct has an order follow the prices that the pool sees, and not ask the
// cloud for resources of which only overlays know.
func (v overlays) correct(o *cloud.Order) {
	if v.said == nil || v.seen == nil {
		return
	}
	for i := range v.seen.Shapes {
		s := &v.seen.Shapes[i]
		if len(o.Menu) > 0 && !slices.Contains(o.Menu, s.Name) {
			continue
		}
		for _, e := range v.added(s.Name) {
			wanted, ok := o.Requests.Find(e.Name)
			if !ok {
				continue
			}
			o.Requests = slices.DeleteFunc(slices.Clone(o.Requests), func(r amount.Entry) bool { return r.Name == e.Name })
			o.Overlaid = o.Overlaid.With(e.Name, wanted)
		}
		for _, offer := range s.Offers {
			if !offer.Overlaid {
				continue
			}
			if o.Prices == nil {
				o.Prices = map[cloud.Offer]money.Micro{}
			}
			o.Prices[cloud.Offer{Shape: s.Name, Zone: offer.Zone, CapacityType: offer.CapacityType}] = offer.Price
		}
	}
}

// extend gives a machine the resources that overlays say its shape has.
func (v overlays) extend(m cloud.Machine) cloud.Machine {
	said, seen := shapeOf(v.said, m.Shape), shapeOf(v.seen, m.Shape)
	if said == nil || seen == nil {
		return m
	}
	for _, e := range v.added(m.Shape) {
		m.Capacity, m.Allocatable = m.Capacity.With(e.Name, e.Value), m.Allocatable.With(e.Name, e.Value)
	}
	if cut := amount.Plus(seen.Overhead.Value(amount.Memory), -said.Overhead.Value(amount.Memory)); cut > 0 { // for huge pages
		m.Allocatable = m.Allocatable.With(amount.Memory, max(amount.Plus(m.Allocatable.Value(amount.Memory), -cut), 0))
	}
	return m
}

// added are the resources of a shape that are not as the cloud says.
func (v overlays) added(shape string) amount.List {
	said, seen := shapeOf(v.said, shape), shapeOf(v.seen, shape)
	if said == nil || seen == nil || !seen.Overlaid {
		return nil
	}
	var out amount.List
	for _, e := range seen.Capacity {
		if has, ok := said.Capacity.Find(e.Name); !ok || has != e.Value {
			out = append(out, e)
		}
	}
	return out
}

func shapeOf(c *world.Catalog, name string) *world.Shape {
	if c == nil {
		return nil
	}
	i := slices.IndexFunc(c.Shapes, func(s world.Shape) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Shapes[i]
}
