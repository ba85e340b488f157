package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/bootstrap"
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/placement"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/reserve"
	"github.com/tenon-sh/tenon/internal/aws/types"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// resolved is a template with everything it selects found.
type resolved struct {
	class   nodeclass.Class
	kubelet kubelet.Config
	subnets []network.Subnet // most free addresses first
	groups  []network.Group
	images  []image // newest first; none if the user's own launch template names it
	cluster bootstrap.Cluster

	reservations []reserve.Reservation
	unread       bool            // they could not be read: that one is missing says nothing
	placement    placement.Group // zero: none
}

func (r resolved) groupIDs() []string {
	ids := make([]string, len(r.groups))
	for i, g := range r.groups {
		ids[i] = g.ID
	}
	return ids
}

// resolve finds what a template selects. What is missing is an error with code
// NotReady that says what to do.
func (d *Driver) resolve(ctx context.Context, t cloud.Template) (resolved, error) {
	class, err := d.cfg.Classes(ctx, t.Class)
	if err != nil {
		return resolved{}, err
	}
	return d.resolveClass(ctx, class, t.Kubelet)
}

// resolveClass finds what a class selects. Callers who want the same class share
// the questions: all but the first find them answered.
func (d *Driver) resolveClass(ctx context.Context, class nodeclass.Class, poolKubelet []byte) (resolved, error) {
	done, err := d.resolving.Lock(ctx, class.Ref.Kind+"/"+class.Ref.Name)
	if err != nil {
		return resolved{}, err
	}
	defer done()
	r := resolved{class: class}
	settings := class.Kubelet
	if len(poolKubelet) > 0 {
		settings = poolKubelet
	}
	if r.kubelet, err = kubelet.Parse(settings); err != nil {
		return r, cloud.Errorf(cloud.NotReady, "InvalidKubeletConfiguration", "kubelet settings: %v", err)
	}
	if r.subnets, err = d.network.Subnets(ctx, class.Subnets); err != nil {
		return r, err
	}
	if len(r.subnets) == 0 {
		return r, noSubnets(class)
	}
	if class.LaunchTemplate != "" {
		return r, d.ownTemplate(ctx, class)
	}
	if r.placement, err = d.placementOf(ctx, class); err != nil {
		return r, err
	}
	r.reservations, r.unread = d.reservationsOf(ctx, class)
	if r.groups, err = d.network.Groups(ctx, class.Groups); err != nil {
		return r, err
	}
	if len(r.groups) == 0 {
		return r, noGroups(class)
	}
	var version string
	if r.cluster, version, err = d.home.find(ctx); err != nil {
		return r, err
	}
	r.images, err = d.amis.find(ctx, class, version)
	return r, err
}

// placementOf finds the placement group of a class. Without it nothing is
// launched: a machine outside the group would look as if all were well.
func (d *Driver) placementOf(ctx context.Context, c nodeclass.Class) (placement.Group, error) {
	if c.PlacementGroup == nil {
		return placement.Group{}, nil
	}
	g, there, err := d.groups.Find(ctx, *c.PlacementGroup)
	switch {
	case refusal.Absent(err):
		return g, cloud.Errorf(cloud.NotReady, awsv1.ReasonPlacementGroupFailed, "placement groups cannot be read here: %w", err)
	case err != nil:
		return g, err
	case !there:
		return g, cloud.Errorf(cloud.NotReady, awsv1.ReasonPlacementGroupNotFound, "no placement group meets %s: create it, or correct spec.placementGroupSelector", describe([]nodeclass.Selector{*c.PlacementGroup}))
	}
	return g, nil
}

// reservationsOf finds the reservations that a class may use, and reports whether
// they could not all be read. What cannot be read is not used; that keeps nobody from launching.
func (d *Driver) reservationsOf(ctx context.Context, c nodeclass.Class) ([]reserve.Reservation, bool) {
	if d.cfg.Settings.NoReserved || len(c.Reservations) == 0 {
		return nil, false
	}
	found, err := d.reserved.Find(ctx, c.Reservations)
	d.lasting.note("capacity reservations", "those that were known last are used", err)
	return found, err != nil
}

// version changes when something does that decides what machines of the template
// can be. What differs between classes and decides nothing of that, such as their
// names, tags or user data, is not in it, so that they share one catalogue.
func (r resolved) version(settings types.Settings, away []string) uint64 {
	h := fnv.New64a()
	boots := make([]label.Set, len(r.images))
	for i, image := range r.images {
		boots[i] = image.Requirements
	}
	text, err := json.Marshal(struct {
		Settings types.Settings
		Boots    []label.Set
		Any      bool // any type boots: the user's own template names the image
		Zones    map[string]string
		Reserved []reserve.Reservation
		Away     []string
	}{settings, boots, r.class.LaunchTemplate != "", r.zoneIDs(), r.reservations, away})
	if err != nil {
		panic(err) // these are plain values
	}
	_, _ = h.Write(text)
	return h.Sum64()
}

// zoneIDs are the ids of the zones of the subnets by their names, which are this
// account's own. One that EC2 does not tell is empty.
func (r resolved) zoneIDs() map[string]string {
	ids := map[string]string{}
	for _, s := range r.subnets {
		ids[s.Zone] = s.ZoneID
	}
	return ids
}

// zones are the zones of the subnets, sorted.
func (r resolved) zones() []string {
	var out []string
	for _, s := range r.subnets {
		out = append(out, s.Zone)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// describe writes selectors for a message.
func describe(selectors []nodeclass.Selector) string {
	parts := make([]string, len(selectors))
	for i, s := range selectors {
		var p []string
		for _, t := range s.Tags {
			p = append(p, fmt.Sprintf("%s=%s", t.Key, strings.Join(append(t.Values, nil...), ",")))
		}
		p = append(p, s.IDs...)
		if s.Name != "" {
			p = append(p, "name "+s.Name)
		}
		parts[i] = "{" + strings.Join(p, " ") + "}"
	}
	return strings.Join(parts, " or ")
}
