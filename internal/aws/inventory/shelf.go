package inventory

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/catalog"
)

// Shelf is what was known at one moment. It does not change.
type Shelf struct {
	Types    []catalog.Type      // by name
	Zones    map[string][]string // of each type, sorted; none: each is sold everywhere
	OnDemand map[string]catalog.Price
	Spot     map[string]map[string]catalog.Price // by type and zone
	Currency string
	Version  int

	// Why types and prices are those that were known before, or are bundled; nil if they are those of today.
	Untyped, Unpriced error
}

func (s *Shelf) setSpot(typ, zone string, p catalog.Price) {
	if s.Spot[typ] == nil {
		s.Spot[typ] = map[string]catalog.Price{}
	}
	s.Spot[typ][zone] = p
}

// sells reports whether a type is sold in a zone.
func (s *Shelf) sells(typ, zone string) bool {
	return s.Zones == nil || slices.Contains(s.Zones[typ], zone)
}

// Offers returns in which of the zones a type is sold and for how much, in order
// of zone and kind. A spot offer without a price of its own is taken to cost what
// on-demand does. Types in preview have no price at all, and their offers say so.
func (s *Shelf) Offers(t *catalog.Type, zones []string) []world.Offer {
	onDemand, priced := s.OnDemand[t.Name]
	var out []world.Offer
	for _, zone := range zones {
		if !s.sells(t.Name, zone) {
			continue
		}
		if slices.Contains(t.UsageClasses, "on-demand") {
			out = append(out, world.Offer{Zone: zone, CapacityType: label.OnDemand, Price: onDemand.Micro, Synthetic: onDemand.Synthetic, Unpriced: !priced})
		}
		if !t.Spot() {
			continue
		}
		spot, known := s.Spot[t.Name][zone]
		if !known {
			spot = onDemand
		}
		out = append(out, world.Offer{Zone: zone, CapacityType: label.Spot, Price: spot.Micro, Synthetic: spot.Synthetic, Unpriced: spot.Micro <= 0})
	}
	return out
}
