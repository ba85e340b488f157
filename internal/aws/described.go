package aws

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/fleet"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// fresh is a machine as far as the fleet's answer tells.
func (l *launching) fresh(m fleet.Machine, reservation string) cloud.Machine {
	return cloud.Machine{
		ID: cloud.MachineID(m.ID), ProviderID: machine.ProviderID(m.Zone, m.ID), Shape: m.Shape, Zone: m.Zone,
		CapacityType: m.CapacityType, Reservation: reservation, Order: l.order.Token, Subnet: m.Subnet, Launched: l.cfg.Now(), Tags: l.tags(),
	}
}

// bornWith is the annotation of a claim whose machine came with other security
// groups than were asked for: they are no drift, or it would be replaced by its like for ever.
const bornWith = "tenon.sh/born-with-security-groups"

// finished returns the order's machines with all that the claim will show. EC2
// may not show a fresh machine for a moment; then it has no name yet, which the
// node will tell.
func (l *launching) finished(ctx context.Context) []cloud.Machine {
	out := l.refreshed(ctx, l.past.machines)
	l.mark(ctx, out)
	for i := range out {
		l.complete(&out[i])
	}
	for _, m := range out {
		if !slices.Contains(l.past.unsaid, m.ID) {
			continue
		}
		l.soldout.Clear(soldoutOffer(m))
		l.cfg.Said(Saying{
			Message: fmt.Sprintf("Launched instance: %s, hostname: %s, type: %s, zone: %s, capacityType: %s", m.ID, m.Name, m.Shape, m.Zone, m.CapacityType),
			Pool:    l.order.Pool,
			Fields:  map[string]string{"launched-instance": string(m.ID), "hostname": m.Name, "type": m.Shape, "zone": m.Zone, "capacity-type": m.CapacityType},
		})
	}
	l.past.unsaid = nil
	return out
}

// mark writes the order's tags to machines that came without them, so that they
// are found again: not every server hands a fleet's tags on.
func (l *launching) mark(ctx context.Context, machines []cloud.Machine) {
	for i := range machines {
		m := &machines[i]
		if m.Order != "" || m.Ending {
			continue
		}
		if err := l.machines.Tag(ctx, m.ID, l.tags()); err != nil {
			l.cfg.Said(Saying{Failed: true, Message: fmt.Sprintf("Machine %s came without its tags and cannot be tagged: %v", m.ID, err), Pool: l.order.Pool})
			continue
		}
		m.Order, m.Tags = l.order.Token, l.tags()
	}
}

// refreshed returns the machines as EC2 shows them now. What the driver knows
// and EC2 does not tell is kept; so is a machine that is not shown.
func (d *Driver) refreshed(ctx context.Context, machines []cloud.Machine) []cloud.Machine {
	out := slices.Clone(machines)
	ids := make([]string, len(out))
	for i, m := range out {
		ids[i] = string(m.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	known, err := d.machines.ByID(ctx, ids)
	if err != nil {
		return out
	}
	for _, k := range known {
		i := slices.IndexFunc(out, func(m cloud.Machine) bool { return m.ID == k.ID })
		out[i] = joined(out[i], k)
	}
	return out
}

// joined is a machine as it was known, with what EC2 shows of it. Where EC2 shows
// nothing, or less than the fleet's answer told, what was known stays.
func joined(known, shown cloud.Machine) cloud.Machine {
	shown.Annotations, shown.Capacity, shown.Allocatable = known.Annotations, known.Capacity, known.Allocatable
	if known.Labels != nil {
		shown.Labels = known.Labels
	}
	if known.CapacityType != "" {
		shown.CapacityType = known.CapacityType // how it was bought
	}
	if shown.Zone == "" {
		shown.Zone, shown.ProviderID = known.Zone, known.ProviderID
	}
	shown.Shape, shown.Subnet = cmp.Or(shown.Shape, known.Shape), cmp.Or(shown.Subnet, known.Subnet)
	shown.Image, shown.Reservation = cmp.Or(shown.Image, known.Image), cmp.Or(shown.Reservation, known.Reservation)
	if shown.Launched.IsZero() {
		shown.Launched = known.Launched
	}
	return shown
}

// Complete returns machines that were found with what their claims are to show.
// Of which class they were made is not written on them: it is taken for what it is today.
func (d *Driver) Complete(ctx context.Context, t cloud.Template, machines []cloud.Machine) ([]cloud.Machine, error) {
	out := slices.Clone(machines)
	for i := range out {
		labels := map[string]string{
			label.InstanceType: out[i].Shape, label.Zone: out[i].Zone, label.CapacityType: out[i].CapacityType, label.Region: d.clients.Region,
		}
		maps.Copy(labels, out[i].Labels)
		out[i].Labels = labels
	}
	r, err := d.resolve(ctx, t)
	if err != nil {
		return out, err
	}
	shapes, err := d.catalog(ctx, t, r)
	if err != nil {
		return out, err
	}
	l := &launching{Driver: d, resolved: r, shapes: shapes}
	for i := range out {
		l.complete(&out[i])
	}
	return out, nil
}

// complete fills in what follows from the machine's shape and class.
func (l *launching) complete(m *cloud.Machine) {
	m.Annotations = map[string]string{HashAnnotation(l.class): l.class.Hash, HashAnnotation(l.class) + "-version": l.class.HashVersion}
	if groups := l.groupIDs(); l.class.LaunchTemplate == "" && len(m.Groups) > 0 && !slices.Equal(m.Groups, groups) {
		m.Annotations[bornWith] = strings.Join(m.Groups, ",")
	}
	i, ok := l.shape(m.Shape)
	if !ok {
		return
	}
	s := l.shapes.Shapes[i]
	m.Capacity, m.Allocatable = s.Capacity, s.Allocatable()
	own := m.Labels
	m.Labels = map[string]string{}
	for _, r := range s.Labels {
		if !r.Not && len(r.Values) == 1 {
			m.Labels[r.Key] = r.Values[0]
		}
	}
	for _, o := range s.Offers {
		if o.Zone == m.Zone && o.CapacityType == m.CapacityType && o.Reservation == m.Reservation {
			maps.Copy(m.Labels, o.Labels)
		}
	}
	maps.Copy(m.Labels, map[string]string{
		label.InstanceType: m.Shape, label.Zone: m.Zone, label.CapacityType: m.CapacityType, label.Region: l.clients.Region,
	})
	maps.Copy(m.Labels, own)
	if l.class.Legacy && m.Image != "" {
		m.Labels["karpenter.k8s.aws/instance-ami-id"] = m.Image
	}
}

// wants reports how much of a resource each machine's pods ask for.
func (l *launching) wants(resource string) bool {
	return l.order.Requests.Value(resource) >= amount.Unit
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

// shape returns the index of a shape of the catalogue, which is sorted by name.
func (l *launching) shape(name string) (int, bool) {
	return slices.BinarySearchFunc(l.shapes.Shapes, name, func(s world.Shape, name string) int { return strings.Compare(s.Name, name) })
}
