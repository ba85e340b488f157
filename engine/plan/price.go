package plan

import (
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

const (
	instanceType = label.InstanceType
	zone         = label.Zone
	capacityType = label.CapacityType
)

// PriceOf returns what a machine costs an hour by its pool's catalogue, or by
// any other that knows its type; zero if none does.
func PriceOf(w *world.World, p *world.Place) money.Micro {
	o, _ := OfferOf(w, p)
	return o.Price
}

// OfferOf returns what a machine is sold as, by its pool's catalogue or by any
// other that knows its type; false if none does.
func OfferOf(w *world.World, p *world.Place) (world.Offer, bool) {
	labels := p.Labels()
	if pool := w.Pool(p.Pool()); pool != nil {
		if c := w.CatalogFor(pool.ID, pool.Template); c != nil {
			if o, ok := offerIn(c, labels); ok {
				return o, true
			}
		}
	}
	for _, c := range w.Catalogs() {
		if o, ok := offerIn(c, labels); ok {
			return o, true
		}
	}
	return world.Offer{}, false
}

func offerIn(c *world.Catalog, labels map[string]string) (world.Offer, bool) {
	name, in, way := labels[instanceType], labels[zone], labels[capacityType]
	for i := range c.Shapes {
		if c.Shapes[i].Name != name {
			continue
		}
		for _, o := range c.Shapes[i].Offers {
			if o.Zone == in && o.CapacityType == way {
				return o, true
			}
		}
	}
	return world.Offer{}, false
}
