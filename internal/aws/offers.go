package aws

import (
	"cmp"
	"slices"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
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
// if something reserved will do, else spot if some is to be had that costs no
// more than on-demand, else on-demand.
func (l *launching) offers() ([]offer, string) {
	all := map[string][]offer{}
	for i := range l.shapes.Shapes {
		s := &l.shapes.Shapes[i]
		if len(l.order.Menu) > 0 && !slices.Contains(l.order.Menu, s.Name) || !l.order.Requests.Fits(s.Allocatable()) {
			continue
		}
		demand := label.SetOf(label.Is(label.InstanceType, s.Name)).Meet(l.order.Requirements)
		if !agree(s.Labels, demand) {
			continue
		}
		for _, o := range s.Offers {
			if own, ok := l.order.Prices[cloud.Offer{Shape: s.Name, Zone: o.Zone, CapacityType: o.CapacityType}]; ok {
				o.Price = own
			}
			if l.allowed(o) && l.left(o) && !l.shifted(o) && l.soldout.Why(s.Name, o.Zone, o.CapacityType, l.placement.ID) == "" {
				all[o.CapacityType] = append(all[o.CapacityType], offer{s, o})
			}
		}
	}
	if reserved := all[label.Reserved]; len(reserved) > 0 {
		return oneKind(reserved), label.Reserved
	}
	spot, onDemand := l.plain(all[label.Spot], all[label.OnDemand])
	if spot := l.notDearer(spot, onDemand); len(spot) > 0 {
		return spot, label.Spot
	}
	return onDemand, label.OnDemand
}

// shifted reports whether an offer is in a zone that the cluster's traffic is shifted away from.
func (l *launching) shifted(o world.Offer) bool {
	return len(l.awayFrom) > 0 && slices.Contains(l.awayFrom, o.Labels[awsv1.LabelZoneID])
}

// left reports whether an offer that is reserved has machines left, by the latest count.
func (l *launching) left(o world.Offer) bool {
	return o.CapacityType != label.Reserved ||
		slices.ContainsFunc(l.reservations, func(r reserve.Reservation) bool { return r.ID == o.Reservation && r.Left > 0 })
}

// oneKind keeps reservations of one kind: those that do not end, or else a single
// capacity block, because a fleet request can name no two markets.
func oneKind(reserved []offer) []offer {
	lasting := slices.DeleteFunc(slices.Clone(reserved), func(o offer) bool { return block(o.Offer) })
	if len(lasting) > 0 {
		return lasting
	}
	return reserved[:1]
}

// block reports whether an offer is of a capacity block.
func block(o world.Offer) bool {
	return o.Labels[awsv1.LabelCapacityReservationType] == "capacity-block"
}

// plain leaves out bare metal and machines with accelerators where others would
// do. A menu was made by that rule, and an order with minValues needs its many types.
func (l *launching) plain(spot, onDemand []offer) (plainSpot, plainOnDemand []offer) {
	if len(l.order.Menu) > 0 || l.varied() {
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
func (l *launching) varied() bool {
	return slices.ContainsFunc(l.order.Requirements, func(r label.Requirement) bool { return r.Least > 0 })
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
func (l *launching) allowed(o world.Offer) bool {
	if !l.allows(label.Zone, o.Zone) || !l.allows(label.CapacityType, o.CapacityType) {
		return false
	}
	for _, key := range offerLabels() {
		want, asked := l.order.Requirements.Find(key)
		value, has := o.Labels[key]
		if asked && (has && !want.Has(value) || !has && want.Present) {
			return false
		}
	}
	return true
}

func (l *launching) allows(key, value string) bool {
	r, ok := l.order.Requirements.Find(key)
	return !ok || r.Has(value)
}

// notDearer leaves out spot that costs more than the cheapest on-demand would,
// unless the order needs its many types.
func (l *launching) notDearer(spot, onDemand []offer) []offer {
	if len(onDemand) == 0 || l.varied() {
		return spot
	}
	least := slices.MinFunc(onDemand, func(a, b offer) int { return cmp.Compare(a.Price, b.Price) }).Price
	return slices.DeleteFunc(slices.Clone(spot), func(o offer) bool { return o.Price > least })
}
