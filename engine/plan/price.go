package plan

import (
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

const (
	instanceType = label.InstanceType
	zone         = label.Zone
	capacityType = label.CapacityType
)

// PriceOf returns what a machine costs an hour by its pool's catalogue, or by
// any other that knows its type; zero if none does.
func PriceOf(w *world.World, p *world.Place) int64 {
	labels := p.Labels()
	if pool := w.Pool(p.Pool()); pool != nil {
		if c := w.Catalog(pool.Template); c != nil {
			if price, ok := priceIn(c, labels); ok {
				return price
			}
		}
	}
	for _, c := range w.Catalogs() {
		if price, ok := priceIn(c, labels); ok {
			return price
		}
	}
	return 0
}

func priceIn(c *world.Catalog, labels map[string]string) (int64, bool) {
	for i := range c.Shapes {
		if c.Shapes[i].Name != labels[instanceType] {
			continue
		}
		for _, o := range c.Shapes[i].Offers {
			if o.Zone == labels[zone] && o.CapacityType == labels[capacityType] {
				return o.Price, true
			}
		}
	}
	return 0, false
}
