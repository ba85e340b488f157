package types

import (
	"slices"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/catalog"
)

// ebsDriver attaches EBS volumes to nodes.
const ebsDriver = "ebs.csi.aws.com"

// Shape is what nodes of a type are, before anyone offers it.
func Shape(t *catalog.Type, s Settings) world.Shape {
	have := capacity(t, s)
	return world.Shape{
		Name:         t.Name,
		Capacity:     have,
		Overhead:     overhead(t, s, have),
		Labels:       labels(t, s, have),
		VolumeLimits: volumeLimits(t, s),
	}
}

// volumeLimits is how many EBS volumes pods can attach. The machine's own take
// from what EC2 allows. Where volumes share their slots with network
// interfaces, EC2's number leaves out the first interface, and one more is
// there soon after boot.
func volumeLimits(t *catalog.Type, s Settings) []world.DriverLimit {
	n := t.EBSAttachMax - max(len(Disks(s.Class)), 1)
	if t.Hypervisor == "nitro" && t.EBSAttachMax <= 28 {
		n--
	}
	return []world.DriverLimit{{Driver: ebsDriver, Count: max(n, 0)}}
}

// Sell returns the shape with offers. Zones and capacity types become labels of
// the shape; a label that offers set themselves, such as the zone's id or a
// reservation's, is theirs alone: what one of them says does not hold for the others.
func Sell(shape world.Shape, offers []world.Offer) world.Shape {
	var zones, ways []string
	own := map[string]bool{}
	for _, o := range offers {
		zones, ways = append(zones, o.Zone), append(ways, o.CapacityType)
		for key := range o.Labels {
			own[key] = true
		}
	}
	set := append(make(label.Set, 0, len(shape.Labels)+2), shape.Labels...)
	set = slices.DeleteFunc(set, func(r label.Requirement) bool { return own[r.Key] })
	set = with(set, label.Zone, zones)
	set = with(set, label.CapacityType, ways)
	shape.Labels, shape.Offers = set, offers
	return shape
}

// with sets a label of the set, which it changes, to one of values; with none, it cannot be there.
func with(set label.Set, key string, values []string) label.Set {
	r := label.Requirement{Key: key}
	if len(values) > 0 {
		r = label.Is(key, values...)
	}
	i, there := slices.BinarySearchFunc(set, r, byKey)
	if there {
		set[i] = r
		return set
	}
	return slices.Insert(set, i, r)
}

// Offers are what the bundled catalogue offers of a type in a region, sorted by
// zone, then on demand before spot. What has no price says so.
func Offers(r *catalog.Region, t *catalog.Type) []world.Offer {
	onDemand, priced := r.OnDemand(t.Name)
	var out []world.Offer
	for _, zone := range r.Offered(t.Name) {
		labels := map[string]string{awsv1.LabelZoneID: r.ZoneID(zone)}
		if priced || slices.Contains(t.UsageClasses, "on-demand") {
			out = append(out, world.Offer{Zone: zone, CapacityType: label.OnDemand, Price: onDemand.Micro, Synthetic: onDemand.Synthetic, Unpriced: !priced, Labels: labels})
		}
		if p, ok := r.Spot(t.Name, zone); ok {
			out = append(out, world.Offer{Zone: zone, CapacityType: label.Spot, Price: p.Micro, Synthetic: p.Synthetic, Labels: labels})
		} else if t.Spot() && !priced {
			out = append(out, world.Offer{Zone: zone, CapacityType: label.Spot, Unpriced: true, Labels: labels})
		}
	}
	return out
}

// Bundled is the bundled catalogue of a region as the engine sees it: every type
// that is offered there and that the settings allow.
func Bundled(r *catalog.Region, s Settings) world.Catalog {
	s.Region = r.Name
	out := world.Catalog{Version: "bundled", Region: r.Name}
	if r.Currency != "USD" {
		out.Currency = r.Currency + "/h"
	}
	for _, t := range r.Types() {
		offers := Offers(r, t)
		if Unfit(t, s) != "" || len(offers) == 0 {
			continue
		}
		out.Shapes = append(out.Shapes, Sell(Shape(t, s), offers))
	}
	return out
}
