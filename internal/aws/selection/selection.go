// Package selection finds everything that a template selects.
package selection

import (
	"context"
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/ami"
	"github.com/tenon-sh/tenon/internal/aws/bootstrap"
	"github.com/tenon-sh/tenon/internal/aws/expression"
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/placement"
	"github.com/tenon-sh/tenon/internal/aws/reserve"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Classes finds the class that a template names. A class that is not there or
// not usable is a cloud.Error with code NotReady.
type Classes func(context.Context, cloud.ClassRef) (nodeclass.Class, error)

// Selection is a template with everything it selects found.
type Selection struct {
	Class   nodeclass.Class
	Kubelet kubelet.Config
	Subnets []network.Subnet // most free addresses first
	Groups  []network.Group
	Images  []ami.Image // newest first; none if the user's own launch template names it
	Cluster bootstrap.Cluster

	Reservations []reserve.Reservation
	Unread       bool            // they could not be read: that one is missing says nothing
	Placement    placement.Group // zero: none

	Computed *expression.Program // of the expressions in Kubelet; nil if there are none
}

// GroupIDs are the ids of the security groups.
func (s Selection) GroupIDs() []string {
	ids := make([]string, len(s.Groups))
	for i, g := range s.Groups {
		ids[i] = g.ID
	}
	return ids
}

// Image is the image that a machine with these labels boots from; false if none does.
func (s Selection) Image(labels label.Set) (ami.Image, bool) { return ami.For(s.Images, labels) }

// Boots reports whether a machine with these labels boots: any does from the user's own launch template.
func (s Selection) Boots(labels label.Set) bool {
	if s.Class.LaunchTemplate != "" {
		return true
	}
	_, ok := s.Image(labels)
	return ok
}

// ZoneIDs are the ids of the zones of the subnets by their names, which are this
// account's own. One that EC2 does not show is empty.
func (s Selection) ZoneIDs() map[string]string {
	ids := map[string]string{}
	for _, n := range s.Subnets {
		ids[n.Zone] = n.ZoneID
	}
	return ids
}

// Zones are the zones of the subnets, sorted.
func (s Selection) Zones() []string { return ZonesOf(s.Subnets) }

// ZonesOf are the zones of subnets, sorted.
func ZonesOf(subnets []network.Subnet) []string {
	var out []string
	for _, s := range subnets {
		out = append(out, s.Zone)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
