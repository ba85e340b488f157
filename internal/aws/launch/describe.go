package launch

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/internal/aws/fleet"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/aws/soldout"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// fresh is a machine as far as the fleet's answer shows it.
func (l *launching) fresh(m fleet.Machine, reservation string) cloud.Machine {
	return cloud.Machine{
		ID: cloud.MachineID(m.ID), ProviderID: machine.ProviderID(m.Zone, m.ID), Shape: m.Shape, Zone: m.Zone,
		CapacityType: m.CapacityType, Reservation: reservation, Order: l.want.order.Token, Subnet: m.Subnet, Launched: l.by.Now(), Tags: l.want.tags(),
	}
}

// finished returns the order's machines with all that the claim will show. EC2
// may not show a fresh machine for a moment; then it has no name yet, which
// comes with the node.
func (l *launching) finished(ctx context.Context) []cloud.Machine {
	out := l.by.refreshed(ctx, l.past.machines)
	l.mark(ctx, out)
	for i := range out {
		l.want.complete(&out[i])
	}
	for _, m := range out {
		if !slices.Contains(l.past.unsaid, m.ID) {
			continue
		}
		l.by.SoldOut.Clear(soldoutOffer(m))
		l.by.Said(say.Line{
			Message: fmt.Sprintf("Launched instance: %s, hostname: %s, type: %s, zone: %s, capacityType: %s", m.ID, m.Name, m.Shape, m.Zone, m.CapacityType),
			Pool:    l.want.order.Pool,
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
		if err := l.by.Machines.Tag(ctx, m.ID, l.want.tags()); err != nil {
			l.by.Said(say.Line{Failed: true, Message: fmt.Sprintf("Machine %s came without its tags and cannot be tagged: %v", m.ID, err), Pool: l.want.order.Pool})
			continue
		}
		m.Order, m.Tags = l.want.order.Token, l.want.tags()
	}
}

func soldoutOffer(m cloud.Machine) soldout.Offer {
	return soldout.Offer{Type: m.Shape, Zone: m.Zone, CapacityType: m.CapacityType, Group: m.Placement}
}
