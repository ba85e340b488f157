// Package launch carries out orders: it sends fleet requests until each has its machines, or EC2 has no more.
package launch

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/tenon-sh/tenon/internal/aws/inventory"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/profile"
	"github.com/tenon-sh/tenon/internal/aws/reserve"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/aws/selection"
	"github.com/tenon-sh/tenon/internal/aws/shift"
	"github.com/tenon-sh/tenon/internal/aws/soldout"
	"github.com/tenon-sh/tenon/internal/aws/supply"
	"github.com/tenon-sh/tenon/internal/aws/template"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Launcher buys machines. It remembers its orders, so that one that is asked for
// again, or twice at once, buys nothing twice.
type Launcher struct {
	EC2          *ec2.Client
	Selection    *selection.Finder
	Supply       *supply.Supply
	Inventory    *inventory.Inventory
	Shifts       *shift.Watch
	SoldOut      *soldout.Memory
	Network      *network.Finder
	Reservations *reserve.Finder
	Profiles     profile.Classes
	Templates    *template.Store
	Machines     *machine.Set
	Said         say.Sink
	Now          clock.Now
	Cluster      string
	Region       string
	NoReserved   bool // capacity reservations are not used

	orders   orders
	userData userData
}

// UserData is how many bytes of user data machines of each class got last.
func (b *Launcher) UserData() map[string]int { return b.userData.all() }

// demand is an order with all that decides what it may become.
func (b *Launcher) demand(ctx context.Context, o cloud.Order, sel selection.Selection) (demand, error) {
	shapes, err := b.Supply.Of(ctx, o.Template, sel)
	if err != nil {
		return demand{}, err
	}
	kubelets, err := b.Supply.Kubelets(ctx, sel)
	if err != nil {
		return demand{}, err
	}
	return demand{
		order: o, sel: sel, shapes: shapes, kubelet: kubelets, away: b.Shifts.Known(ctx), soldOut: b.SoldOut.Why, cluster: b.Cluster, anyReserved: b.NoReserved,
	}, nil
}

// refreshed returns the machines as EC2 shows them now. What the driver knows
// and EC2 does not show is kept; so is a machine that is not shown.
func (b *Launcher) refreshed(ctx context.Context, machines []cloud.Machine) []cloud.Machine {
	out := slices.Clone(machines)
	ids := make([]string, len(out))
	for i, m := range out {
		ids[i] = string(m.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	known, err := b.Machines.ByID(ctx, ids)
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
// nothing, or less than the fleet's answer did, what was known stays.
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
