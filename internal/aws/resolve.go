package aws

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/bootstrap"
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
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

func (d *Driver) resolveClass(ctx context.Context, class nodeclass.Class, poolKubelet []byte) (resolved, error) {
	r := resolved{class: class}
	settings := class.Kubelet
	if len(poolKubelet) > 0 {
		settings = poolKubelet
	}
	var err error
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
		return r, nil
	}
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

// version changes when what was found, or learnt of the types' memory, does.
func (r resolved) version(seen map[string]int64) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, r.class.Hash, r.groupIDs(), seen)
	for _, i := range r.images {
		fmt.Fprint(h, i.ID, " ")
	}
	for _, z := range r.zones() {
		fmt.Fprint(h, z, " ")
	}
	return h.Sum64()
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

// typeSettings is what decides what a node of the template offers.
func (d *Driver) typeSettings(r resolved) types.Settings {
	d.mu.Lock()
	defer d.mu.Unlock()
	overhead := d.cfg.Settings.MemoryOverhead
	if overhead == 0 {
		overhead = types.MemoryOverhead
	}
	return types.Settings{
		Class: r.class, Kubelet: r.kubelet, Region: d.clients.Region, MemoryOverhead: overhead,
		ReservedENIs: d.cfg.Settings.ReservedENIs, Seen: maps.Clone(d.seen), OldLabels: r.class.Legacy,
	}
}

// Catalog returns what machines of the template can be: every type that the
// class and its images allow, in the zones of its subnets, and what is sold out now.
func (d *Driver) Catalog(ctx context.Context, t cloud.Template) (world.Catalog, error) {
	r, err := d.resolve(ctx, t)
	if err != nil {
		return world.Catalog{}, err
	}
	shelf, err := d.stock.Shelf(ctx)
	if err != nil && len(shelf.Types) == 0 {
		return world.Catalog{}, err
	}
	zones := r.zones()
	settings := d.typeSettings(r)
	out := world.Catalog{Template: t.ID, Region: d.clients.Region}
	if shelf.Currency != "USD" && shelf.Currency != "" {
		out.Currency = shelf.Currency + "/h"
	}
	for i := range shelf.Types {
		typ := &shelf.Types[i]
		if types.Unfit(typ, settings) != "" {
			continue
		}
		var offers []world.Offer
		for _, o := range shelf.Offers(typ) {
			if slices.Contains(zones, o.Zone) {
				o.Gone = d.soldout.Why(typ.Name, o.Zone, o.CapacityType) != ""
				offers = append(offers, o)
			}
		}
		shape := types.Shape(typ, settings)
		if len(offers) > 0 && (r.class.LaunchTemplate != "" || imageFor(r.images, shape) != nil) {
			out.Shapes = append(out.Shapes, types.Sell(shape, offers))
		}
	}
	if len(out.Shapes) == 0 {
		return out, cloud.Errorf(cloud.NotReady, "NoInstanceTypes", "no instance type of %s fits class %s: its images, subnets and settings leave none", d.clients.Region, t.Class.Name)
	}
	out.Version = fmt.Sprintf("%d.%d.%x", shelf.Version, d.soldout.Version(), r.version(settings.Seen))
	return out, nil
}
