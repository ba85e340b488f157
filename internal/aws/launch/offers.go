package launch

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/reserve"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// offer is a shape on sale somewhere that the order may become.
type offer struct {
	shape *world.Shape
	world.Offer
}

// offers returns what the order may become now, and its capacity type: reserved
// if something reserved will do, else spot if some is on sale that costs no
// more than on-demand, else on-demand.
func (d demand) offers() ([]offer, string) {
	all := map[string][]offer{}
	for i := range d.shapes.Shapes {
		s := &d.shapes.Shapes[i]
		if len(d.order.Menu) > 0 && !slices.Contains(d.order.Menu, s.Name) || !d.order.Requests.Fits(s.Allocatable()) {
			continue
		}
		demand := label.SetOf(label.Is(label.InstanceType, s.Name)).Meet(d.order.Requirements)
		if !agree(s.Labels, demand) {
			continue
		}
		for _, o := range s.Offers {
			if own, ok := d.order.Prices[cloud.Offer{Shape: s.Name, Zone: o.Zone, CapacityType: o.CapacityType}]; ok {
				o.Price = own
			} else if o.Unpriced {
				continue
			}
			if d.allowed(o) && d.left(o) && !d.shifted(o) && d.soldOut(s.Name, o.Zone, o.CapacityType, d.sel.Placement.ID) == "" {
				all[o.CapacityType] = append(all[o.CapacityType], offer{s, o})
			}
		}
	}
	if reserved := all[label.Reserved]; len(reserved) > 0 {
		return oneKind(reserved), label.Reserved
	}
	spot, onDemand := d.plain(all[label.Spot], all[label.OnDemand])
	if spot := d.notDearer(spot, onDemand); len(spot) > 0 {
		return spot, label.Spot
	}
	return onDemand, label.OnDemand
}

// shifted reports whether an offer is in a zone that the cluster's traffic is shifted away from.
func (d demand) shifted(o world.Offer) bool {
	return len(d.away) > 0 && slices.Contains(d.away, o.Labels[awsv1.LabelZoneID])
}

// left reports whether an offer that is reserved has machines left, by the latest count.
func (d demand) left(o world.Offer) bool {
	return o.CapacityType != label.Reserved ||
		slices.ContainsFunc(d.sel.Reservations, func(r reserve.Reservation) bool { return r.ID == o.Reservation && r.Left > 0 && !r.Expiring })
}

// oneKind keeps reservations of one kind, because a fleet request can name no two
// markets: those that last, or else a single capacity block, or else those that
// can be taken back.
func oneKind(reserved []offer) []offer {
	of := func(kind func(world.Offer) bool) []offer {
		return slices.DeleteFunc(slices.Clone(reserved), func(o offer) bool { return !kind(o.Offer) })
	}
	if lasting := of(func(o world.Offer) bool { return !block(o) && !interrupts(o) }); len(lasting) > 0 {
		return lasting
	}
	if blocks := of(block); len(blocks) > 0 {
		return blocks[:1]
	}
	return reserved
}

// interrupts reports whether an offer is of a reservation that can be taken back.
func interrupts(o world.Offer) bool {
	return o.Labels[awsv1.LabelCapacityReservationInterrupts] == "true"
}

// block reports whether an offer is of a capacity block.
func block(o world.Offer) bool {
	return o.Labels[awsv1.LabelCapacityReservationType] == "capacity-block"
}

// plain leaves out bare metal and machines with accelerators where others would
// do. A menu was made by that rule, and an order with minValues needs its many types.
func (d demand) plain(spot, onDemand []offer) (plainSpot, plainOnDemand []offer) {
	if len(d.order.Menu) > 0 || d.varied() {
		return spot, onDemand
	}
	exotic := func(o offer) bool { return o.shape.Exotic() }
	plainSpot, plainOnDemand = slices.DeleteFunc(slices.Clone(spot), exotic), slices.DeleteFunc(slices.Clone(onDemand), exotic)
	if len(plainSpot)+len(plainOnDemand) == 0 {
		return spot, onDemand
	}
	return plainSpot, plainOnDemand
}

// varied reports whether the order has minValues.
func (d demand) varied() bool {
	return slices.ContainsFunc(d.order.Requirements, func(r label.Requirement) bool { return r.Least > 0 })
}

// agree reports whether what the shape can be meets every demand on a label that the shape speaks of.
func agree(shape, demand label.Set) bool {
	for _, want := range demand {
		if has, ok := shape.Find(want.Key); ok && !has.Meets(want) && !(has.Negative() && want.Negative()) {
			return false
		}
	}
	return true
}

// offerLabels are the labels that belong to offers and not to their shape.
func offerLabels() []string {
	return []string{
		awsv1.LabelZoneID, awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationType, awsv1.LabelCapacityReservationInterrupts,
	}
}

// allowed reports whether the order may become the offer, by the labels that are the offer's own.
func (d demand) allowed(o world.Offer) bool {
	if !d.allows(label.Zone, o.Zone) || !d.allows(label.CapacityType, o.CapacityType) {
		return false
	}
	for _, key := range offerLabels() {
		want, asked := d.order.Requirements.Find(key)
		value, has := o.Labels[key]
		if asked && (has && !want.Has(value) || !has && want.Present) {
			return false
		}
	}
	return true
}

// notDearer leaves out spot that costs more than the cheapest on-demand would,
// unless the order needs its many types.
func (d demand) notDearer(spot, onDemand []offer) []offer {
	if len(onDemand) == 0 || d.varied() {
		return spot
	}
	least := slices.MinFunc(onDemand, func(a, b offer) int { return cmp.Compare(a.Price, b.Price) }).Price
	return slices.DeleteFunc(slices.Clone(spot), func(o offer) bool { return o.Price > least })
}

// cheapest returns the offers of the n cheapest shapes.
func cheapest(offers []offer, n int) []offer {
	best := map[string]money.Micro{}
	for _, o := range offers {
		if p, ok := best[o.shape.Name]; !ok || o.Price < p {
			best[o.shape.Name] = o.Price
		}
	}
	names := slices.SortedFunc(maps.Keys(best), func(a, b string) int { return cmp.Or(cmp.Compare(best[a], best[b]), cmp.Compare(a, b)) })
	names = names[:min(n, len(names))]
	return slices.DeleteFunc(slices.Clone(offers), func(o offer) bool { return !slices.Contains(names, o.shape.Name) })
}

// zoneOf shortens a message about several offers.
func zoneOf(offers []offer) string {
	var zones []string
	for _, o := range offers {
		zones = append(zones, o.Zone)
	}
	slices.Sort(zones)
	return strings.Join(slices.Compact(zones), ", ")
}
