package aws

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/inventory"
	"github.com/tenon-sh/tenon/internal/aws/reserve"
	"github.com/tenon-sh/tenon/internal/aws/types"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Catalog returns what machines of the template can be: every type that the
// class and its images allow, in the zones of its subnets, and what is sold out now.
func (d *Driver) Catalog(ctx context.Context, t cloud.Template) (world.Catalog, error) {
	r, err := d.resolve(ctx, t)
	if err != nil {
		return world.Catalog{}, err
	}
	return d.catalog(ctx, t, r)
}

// catalog makes the catalogue of a resolved template, or finds it made. Whoever
// asks meanwhile waits: making it takes longer than the rest of a launch.
func (d *Driver) catalog(ctx context.Context, t cloud.Template, r resolved) (world.Catalog, error) {
	shelf, err := d.inventory.Shelf(ctx)
	if err != nil {
		return world.Catalog{}, err
	}
	d.lasting.note("instance types", "those that were known last are used", shelf.Untyped)
	d.lasting.note("prices", "those that were known last, or are bundled, are used", shelf.Unpriced)
	away := d.away(ctx)
	d.catalogs.mu.Lock()
	defer d.catalogs.mu.Unlock()
	settings := d.typeSettings(r)
	version := fmt.Sprintf("%d.%d.%x", shelf.Version, d.soldout.Version(), r.version(settings, away))
	out := world.Catalog{Template: t.ID, Region: d.clients.Region, Version: version}
	if shelf.Currency != "USD" && shelf.Currency != "" {
		out.Currency = shelf.Currency + "/h"
	}
	var made bool
	if out.Shapes, made = d.catalogs.find(version); !made {
		out.Shapes = d.shapes(shelf, r, settings, away)
		d.catalogs.share(out.Shapes)
	}
	if len(out.Shapes) == 0 {
		return out, cloud.Errorf(cloud.NotReady, "NoInstanceTypes", "no instance type of %s fits class %s: its images, subnets and settings leave none", d.clients.Region, t.Class.Name)
	}
	d.catalogs.keep(out)
	return out, nil
}

// shapes are the types on the shelf that a template allows, with their offers.
func (d *Driver) shapes(shelf inventory.Shelf, r resolved, settings types.Settings, away []string) []world.Shape {
	ids := r.zoneIDs()
	labels := map[string]map[string]string{} // by zone: every offer there has the same
	for zone, id := range ids {
		if id != "" {
			labels[zone] = map[string]string{awsv1.LabelZoneID: id}
		}
	}
	var out []world.Shape
	for i := range shelf.Types {
		typ := &shelf.Types[i]
		if types.Unfit(typ, settings) != "" {
			continue
		}
		var offers []world.Offer
		for _, o := range shelf.Offers(typ, r.zones()) {
			o.Labels = labels[o.Zone]
			o.Gone = d.soldout.Why(typ.Name, o.Zone, o.CapacityType, r.placement.ID) != "" || slices.Contains(away, ids[o.Zone])
			offers = append(offers, o)
		}
		offers = append(offers, reservedOffers(typ.Name, r.reservations, ids, away)...)
		if len(offers) == 0 {
			continue
		}
		if shape := types.Shape(typ, settings); r.class.LaunchTemplate != "" || imageFor(r.images, shape) != nil {
			out = append(out, types.Sell(shape, offers))
		}
	}
	return out
}

// reservedOffers are the offers of reservations for a type in the zones that the
// class has subnets in. They are paid for already, so they cost nothing.
func reservedOffers(typ string, reservations []reserve.Reservation, zones map[string]string, away []string) []world.Offer {
	var out []world.Offer
	for _, r := range reservations {
		id, here := zones[r.Zone]
		if r.Type != typ || !here {
			continue
		}
		labels := map[string]string{
			awsv1.LabelCapacityReservationID: r.ID, awsv1.LabelCapacityReservationType: r.Kind(),
			awsv1.LabelCapacityReservationInterrupts: strconv.FormatBool(r.Interruptible),
		}
		if id != "" {
			labels[awsv1.LabelZoneID] = id
		}
		out = append(out, world.Offer{
			Zone: r.Zone, CapacityType: label.Reserved, Reservation: r.ID, Count: r.Left, Gone: r.Left == 0 || slices.Contains(away, id), Labels: labels,
		})
	}
	return out
}

// away are the ids of the zones that the cluster's traffic is shifted away from.
func (d *Driver) away(ctx context.Context) []string {
	out, err := d.Shifted(ctx)
	d.lasting.note("zonal shifts", "those that were known last count", err)
	return out
}

// Shifted returns the ids of the zones that the cluster's traffic is shifted away
// from; none where that is not asked for, or where EKS does not know the cluster.
func (d *Driver) Shifted(ctx context.Context) ([]string, error) {
	if !d.cfg.Settings.ZonalShift {
		return nil, nil
	}
	cluster, err := d.home.name(ctx)
	if err != nil || cluster == "" {
		return nil, err
	}
	return d.shifts.Away(ctx, cluster)
}

// typeSettings is what decides what a node of the template offers.
func (d *Driver) typeSettings(r resolved) types.Settings {
	d.mu.Lock()
	defer d.mu.Unlock()
	overhead := d.cfg.Settings.MemoryOverhead
	if overhead == 0 {
		overhead = types.MemoryOverhead
	}
	return types.Deciding(types.Settings{
		Class: r.class, Kubelet: r.kubelet, Region: d.clients.Region, MemoryOverhead: overhead,
		ReservedENIs: d.cfg.Settings.ReservedENIs, Seen: d.believed(), OldLabels: r.class.Legacy,
		Placement: r.placement.ID, Strategy: r.placement.Strategy, Partitions: r.placement.Partitions,
	})
}
