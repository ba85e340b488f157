package launch

import (
	"context"
	"slices"

	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/soldout"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// launching is one order on its way.
type launching struct {
	by   *Launcher
	want demand
	past *past

	full   []string // subnets
	sold   []cloud.Offer
	failed []cloud.Failure
}

// refused takes down which offers turned out to be sold out, for the caller. What
// has no room in a placement group may have some elsewhere.
func (l *launching) refused(marks []soldout.Offer) {
	for _, m := range marks {
		o := cloud.Offer{Shape: m.Type, Zone: m.Zone, CapacityType: m.CapacityType}
		if o.Shape != "" && m.Group == "" && !slices.Contains(l.sold, o) {
			l.sold = append(l.sold, o)
		}
	}
}

// spare reports whether a zone has a subnet of the class that is not full.
func (l *launching) spare(zone string) bool {
	return slices.ContainsFunc(l.want.sel.Subnets, func(s network.Subnet) bool { return s.Zone == zone && !slices.Contains(l.full, s.ID) })
}

// early reports whether EC2 may not have heard of the order's profile yet.
func (l *launching) early(ctx context.Context) bool {
	if l.want.sel.Class.LaunchTemplate != "" {
		return false
	}
	name, err := l.by.Profiles.Of(ctx, l.want.sel.Class)
	return err == nil && l.by.Profiles.Store.Young(name)
}
