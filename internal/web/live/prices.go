package live

import (
	"cmp"
	"slices"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// prices remembers what machines cost for as long as the same is sold to the same pools.
type prices struct {
	catalogs []*world.Catalog
	pools    []*world.Pool
	sold     map[machine]money.Micro
	onDemand map[string]money.Micro // by type
}

// machine is what decides what a machine costs.
type machine struct {
	pool                  world.PoolID
	shape, zone, capacity string
}

// follow forgets everything once something else is sold.
func (p *prices) follow(w *world.World) {
	if p.sold != nil && slices.Equal(p.catalogs, w.Catalogs()) && slices.Equal(p.pools, w.Pools()) {
		return
	}
	*p = prices{catalogs: w.Catalogs(), pools: w.Pools(), sold: map[machine]money.Micro{}, onDemand: map[string]money.Micro{}}
}

// of returns what a machine costs, and what the same type costs on demand: neither where its price is not known.
func (p *prices) of(w *world.World, place *world.Place) (price, onDemand money.Micro) {
	labels := place.Labels()
	m := machine{place.Pool(), labels[label.InstanceType], labels[label.Zone], labels[label.CapacityType]}
	price, ok := p.sold[m]
	if !ok {
		price = plan.PriceOf(w, place)
		p.sold[m] = price
	}
	if price == 0 {
		return 0, 0
	}
	onDemand, ok = p.onDemand[m.shape]
	if !ok {
		onDemand = leastOnDemand(p.catalogs, m.shape)
		p.onDemand[m.shape] = onDemand
	}
	return price, cmp.Or(onDemand, price)
}

// leastOnDemand is what a type costs on demand where it costs least; 0 if it is not sold so.
func leastOnDemand(catalogs []*world.Catalog, shape string) money.Micro {
	least := money.Micro(0)
	for _, c := range catalogs {
		for i := range c.Shapes {
			if c.Shapes[i].Name != shape {
				continue
			}
			for _, o := range c.Shapes[i].Offers {
				if o.CapacityType == v1.CapacityOnDemand && (least == 0 || o.Price < least) {
					least = o.Price
				}
			}
		}
	}
	return least
}
