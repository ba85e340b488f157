package aws

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/fleet"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/cloud"
)

const (
	parallel = 8 // orders under way at once
	attempts = 4 // fleet requests for one order: each leaves out what the last found sold out
)

// Launch carries out orders, several at once. Each ends with as many machines
// as EC2 would give, and an error if that is fewer than asked for.
func (d *Driver) Launch(ctx context.Context, orders []cloud.Order) []cloud.Outcome {
	out := make([]cloud.Outcome, len(orders))
	slots := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	for i, o := range orders {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out[i] = d.launch(ctx, o)
		})
	}
	wg.Wait()
	return out
}

// launch carries out one order. It first looks for what the order made before,
// should an earlier answer have been lost.
func (d *Driver) launch(ctx context.Context, o cloud.Order) cloud.Outcome {
	r, err := d.resolve(ctx, o.Template)
	if err != nil {
		return cloud.Outcome{Err: err}
	}
	shapes, err := d.Catalog(ctx, o.Template)
	if err != nil {
		return cloud.Outcome{Err: err}
	}
	have, err := d.machines.OfOrder(ctx, o.Token)
	if err != nil {
		return cloud.Outcome{Err: err}
	}
	l := &launching{Driver: d, order: o, resolved: r, shapes: shapes}
	l.add(have...)
	for attempt := 0; attempt < attempts && len(l.machines) < o.Count; attempt++ {
		if err = l.try(ctx, attempt); err != nil && cloud.CodeOf(err) != cloud.Capacity {
			break
		}
	}
	if len(l.machines) >= o.Count {
		err = nil
	}
	return cloud.Outcome{Machines: l.finished(ctx), Err: err}
}

// launching is one order on its way.
type launching struct {
	*Driver
	resolved
	order    cloud.Order
	shapes   world.Catalog
	machines []cloud.Machine
	bought   []cloud.MachineID // by this call; the others were there already
}

func (l *launching) add(found ...cloud.Machine) {
	for _, m := range found {
		if !slices.ContainsFunc(l.machines, func(k cloud.Machine) bool { return k.ID == m.ID }) {
			l.machines = append(l.machines, m)
		}
	}
	slices.SortFunc(l.machines, func(a, b cloud.Machine) int { return cmp.Compare(a.ID, b.ID) })
}

// try sends one fleet request for what is still missing.
func (l *launching) try(ctx context.Context, attempt int) error {
	offers, kind := l.offers()
	if len(offers) == 0 {
		return cloud.Errorf(cloud.Capacity, "InsufficientCapacity", "all requested instance types were unavailable during launch")
	}
	token := l.order.Token
	if attempt > 0 {
		token = fmt.Sprintf("%s-%d", token, attempt)
	}
	candidates, err := l.candidates(ctx, offers, kind)
	if err != nil {
		return err
	}
	answer, err := l.send(ctx, token, kind, candidates)
	switch {
	case refusal.Is(err, "IdempotentParameterMismatch"):
		// An attempt with this token was made before, under other prices and
		// marks. What it made carries the order's tag.
		found, err := l.Driver.machines.OfOrder(ctx, l.order.Token)
		l.add(found...)
		if err == nil {
			err = cloud.Errorf(cloud.Capacity, "LaunchFailed", "an earlier attempt of order %s is not shown yet", l.order.Token)
		}
		return err
	case refusal.Is(err, "InvalidLaunchTemplateName.NotFoundException"):
		for _, c := range candidates {
			l.stores.Forget(c.Template)
		}
		if candidates, err = l.candidates(ctx, offers, kind); err != nil {
			return err
		}
		if answer, err = l.send(ctx, token, kind, candidates); err != nil {
			return refusal.Wrap("create fleet", err)
		}
	case err != nil:
		return refusal.Wrap("create fleet", err)
	}
	if marks := answer.SoldOut(kind); len(marks) > 0 {
		l.soldout.Mark(answer.Err().Error(), marks...)
	}
	for _, m := range answer.Machines {
		l.add(l.fresh(m))
		l.bought = append(l.bought, cloud.MachineID(m.ID))
	}
	return answer.Err()
}

func (l *launching) send(ctx context.Context, token, kind string, candidates []fleet.Candidate) (fleet.Answer, error) {
	missing := l.order.Count - len(l.machines)
	request := fleet.Request{
		Token: token, CapacityType: kind, Count: missing, Candidates: candidates, Tags: l.tags(), Context: l.class.Context,
	}
	if l.order.Relaxed {
		request.Context = ""
	}
	out, err := l.clients.EC2.CreateFleet(ctx, request.Input())
	if err != nil {
		return fleet.Answer{}, err
	}
	return fleet.Read(out, kind), nil
}

// offer is a shape on sale somewhere that the order may become.
type offer struct {
	shape *world.Shape
	world.Offer
}

// offers returns what the order may become now, and its capacity type: spot if
// it may be spot and some is to be had, else on-demand.
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
			if l.allows(label.Zone, o.Zone) && l.allows(label.CapacityType, o.CapacityType) && l.soldout.Why(s.Name, o.Zone, o.CapacityType) == "" {
				all[o.CapacityType] = append(all[o.CapacityType], offer{s, o})
			}
		}
	}
	if spot := all[label.Spot]; len(spot) > 0 {
		return l.notDearer(spot, all[label.OnDemand]), label.Spot
	}
	return all[label.OnDemand], label.OnDemand
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

func (l *launching) allows(key, value string) bool {
	r, ok := l.order.Requirements.Find(key)
	return !ok || r.Has(value)
}

// notDearer leaves out spot that costs more than the cheapest on-demand would,
// unless that would leave nothing or the order needs its many types.
func (l *launching) notDearer(spot, onDemand []offer) []offer {
	if len(onDemand) == 0 || slices.ContainsFunc(l.order.Requirements, func(r label.Requirement) bool { return r.Least > 0 }) {
		return spot
	}
	least := slices.MinFunc(onDemand, func(a, b offer) int { return cmp.Compare(a.Price, b.Price) }).Price
	kept := slices.DeleteFunc(slices.Clone(spot), func(o offer) bool { return o.Price > least })
	if len(kept) == 0 {
		return spot
	}
	return kept
}

// tags are what the machines of the order carry from birth.
func (l *launching) tags() map[string]string {
	tags := l.baseTags()
	tags[machine.TagOrder] = l.order.Token
	return tags
}

// baseTags are the tags that also go on what is made beside a machine.
func (l *launching) baseTags() map[string]string {
	own := map[string]string{machine.Owned(l.cfg.Settings.Cluster): "owned", machine.TagCluster: l.cfg.Settings.Cluster}
	if l.class.Legacy {
		own[machine.TagProvisioner] = l.order.Pool.Name
		own[machine.TagName] = machine.TagProvisioner + "/" + l.order.Pool.Name
	} else {
		own[machine.TagNodePool] = l.order.Pool.Name
		own[machine.TagClass] = l.class.Ref.Name
	}
	tags := maps.Clone(l.class.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	for k, v := range own {
		if _, users := tags[k]; !users || k != machine.TagName {
			tags[k] = v
		}
	}
	for k, v := range l.order.Tags {
		tags[k] = v
	}
	return tags
}

// fresh is a machine as far as the fleet's answer tells.
func (l *launching) fresh(m fleet.Machine) cloud.Machine {
	return cloud.Machine{
		ID: cloud.MachineID(m.ID), ProviderID: machine.ProviderID(m.Zone, m.ID), Shape: m.Shape, Zone: m.Zone,
		CapacityType: m.CapacityType, Order: l.order.Token, Subnet: m.Subnet, Launched: l.cfg.Now(), Tags: l.tags(),
	}
}

// finished returns the order's machines with all that the claim will show. EC2
// may not show a fresh machine for a moment; then it has no name yet, which the
// node will tell.
func (l *launching) finished(ctx context.Context) []cloud.Machine {
	var ids []string
	for _, m := range l.machines {
		ids = append(ids, string(m.ID))
	}
	if len(ids) == 0 {
		return nil
	}
	if known, err := l.Driver.machines.ByID(ctx, ids); err == nil {
		for _, k := range known {
			i := slices.IndexFunc(l.machines, func(m cloud.Machine) bool { return m.ID == k.ID })
			l.machines[i] = k
		}
	}
	for i := range l.machines {
		l.complete(&l.machines[i])
	}
	for _, m := range l.machines {
		l.soldout.Clear(soldoutOffer(m))
		if !slices.Contains(l.bought, m.ID) {
			continue
		}
		l.cfg.Said(Saying{
			Message: fmt.Sprintf("Launched instance: %s, hostname: %s, type: %s, zone: %s, capacityType: %s", m.ID, m.Name, m.Shape, m.Zone, m.CapacityType),
			Pool:    l.order.Pool,
			Fields:  map[string]string{"launched-instance": string(m.ID), "hostname": m.Name, "type": m.Shape, "zone": m.Zone, "capacity-type": m.CapacityType},
		})
	}
	return l.machines
}

// complete fills in what follows from the machine's shape and class.
func (l *launching) complete(m *cloud.Machine) {
	m.Annotations = map[string]string{HashAnnotation(l.class): l.class.Hash, HashAnnotation(l.class) + "-version": l.class.HashVersion}
	i := slices.IndexFunc(l.shapes.Shapes, func(s world.Shape) bool { return s.Name == m.Shape })
	if i < 0 {
		return
	}
	s := l.shapes.Shapes[i]
	m.Capacity, m.Allocatable = s.Capacity, s.Allocatable()
	m.Labels = map[string]string{}
	for _, r := range s.Labels {
		if !r.Not && len(r.Values) == 1 {
			m.Labels[r.Key] = r.Values[0]
		}
	}
	for _, o := range s.Offers {
		if o.Zone == m.Zone && o.CapacityType == m.CapacityType {
			maps.Copy(m.Labels, o.Labels)
		}
	}
	maps.Copy(m.Labels, map[string]string{
		label.InstanceType: m.Shape, label.Zone: m.Zone, label.CapacityType: m.CapacityType, label.Region: l.clients.Region,
	})
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
