package market

import (
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// Availability is what one pool may buy now, whatever the pod.
type Availability struct {
	Used     amount.List // what its machines count against its limits
	Types    int         // of machine that it accepts, that are sold, and that its limits leave room for
	Barred   int         // of machine that only its limits keep it from
	Cheapest TypeOffer   // of Types, the cheapest
}

// TypeOffer is one type as it is sold in one zone in one way.
type TypeOffer struct {
	Shape, Zone, CapacityType string
	Price                     money.Micro
	Synthetic                 bool
}

// Available returns what each pool of w may buy; nothing for those that may not be used.
func Available(w *world.World) map[world.PoolID]Availability {
	out := map[world.PoolID]Availability{}
	for id, used := range usages(w) {
		out[id] = Availability{Used: used}
	}
	for _, static := range []bool{false, true} {
		New(w, nil, Options{Static: static}).available(out)
	}
	return out
}

// available adds what each pool may buy.
func (m *Market) available(out map[world.PoolID]Availability) {
	for _, p := range m.Pools {
		s := out[p.ID]
		for _, t := range p.Types {
			if t.Full {
				continue
			}
			once := 0
			if t.First == t.From {
				once = 1
			}
			if !p.Within(t) {
				s.Barred += once
				continue
			}
			s.Types += once
			for _, o := range m.Offers[t.First:t.Last] {
				if s.Cheapest.Shape == "" || o.Pays < s.Cheapest.Price {
					s.Cheapest = TypeOffer{t.Shape.Name, o.Zone, o.CapacityType, o.Pays, o.Synthetic}
				}
			}
		}
		out[p.ID] = s
	}
}
