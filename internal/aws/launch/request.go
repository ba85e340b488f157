package launch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/fleet"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// maxTypesPerRequest is how many types one request names.
const maxTypesPerRequest = 60

// candidates turns offers into what a fleet request names: the subnet with the
// most free addresses of each zone, and a launch template for each type.
func (l *launching) candidates(ctx context.Context, offers []offer, kind string) ([]fleet.Candidate, error) {
	subnet := map[string]string{}
	for _, s := range l.want.sel.Subnets {
		if _, have := subnet[s.Zone]; !have && !slices.Contains(l.full, s.ID) {
			subnet[s.Zone] = s.ID
		}
	}
	var out []fleet.Candidate
	templates := map[string]string{} // by shape and reservation
	for _, o := range cheapest(offers, maxTypesPerRequest) {
		key := o.shape.Name + " " + o.Reservation
		name, ok := templates[key]
		if !ok {
			var err error
			if name, err = l.template(ctx, o, kind); err != nil {
				return nil, err
			}
			templates[key] = name
		}
		if name == "" || subnet[o.Zone] == "" {
			continue
		}
		out = append(out, fleet.Candidate{Shape: o.shape.Name, Zone: o.Zone, Subnet: subnet[o.Zone], Template: name, Price: o.Price, Reservation: o.Reservation, Block: block(o.Offer), Interrupts: interrupts(o.Offer)})
	}
	if len(out) == 0 {
		return nil, cloud.Errorf(cloud.Capacity, "InsufficientCapacity", "no image of class %s boots any type that is to be had in %s", l.want.sel.Class.Ref.Name, zoneOf(offers))
	}
	return out, nil
}

// template returns the launch template that a shape starts from; empty if no image boots it.
func (l *launching) template(ctx context.Context, o offer, kind string) (string, error) {
	if l.want.sel.Class.LaunchTemplate != "" {
		return l.want.sel.Class.LaunchTemplate, nil
	}
	if !l.want.sel.Boots(o.shape.Labels) {
		return "", nil
	}
	profile, err := l.by.Profiles.Of(ctx, l.want.sel.Class)
	if err != nil {
		return "", err
	}
	settings, err := l.by.settings(l.want, o, kind, profile)
	if err != nil {
		return "", err
	}
	name, made, err := l.by.Templates.Ensure(ctx, settings)
	if made != nil {
		l.by.Said(say.Line{
			Debug: true, Message: "Created launch template, " + made.Name, Pool: l.want.order.Pool,
			Fields: map[string]string{"launch-template-name": made.Name, "launch-template-id": made.ID},
		})
	}
	return name, err
}

// request is the fleet request for what is missing, with its launch templates made.
func (l *launching) request(ctx context.Context) (*fleet.Request, error) {
	offers, kind := l.want.offers()
	if len(offers) == 0 {
		return nil, l.nothing()
	}
	candidates, err := l.candidates(ctx, offers, kind)
	if err != nil {
		return nil, err
	}
	l.warn(kind, candidates)
	token := l.want.order.Token
	if l.past.round > 0 {
		token = fmt.Sprintf("%s-%d", token, l.past.round)
	}
	r := &fleet.Request{
		Token: token, CapacityType: kind, Count: l.want.order.Count - len(l.past.machines), Candidates: candidates, Tags: l.want.tags(), Context: l.want.sel.Class.Context,
		Ranked: len(l.want.order.Prices) > 0,
	}
	if l.want.order.Relaxed {
		r.Context = ""
	}
	return r, nil
}

// nothing says why there is no offer that the order may become.
func (l *launching) nothing() error {
	sold := slices.ContainsFunc(l.want.order.Menu, func(name string) bool { _, ok := l.want.shape(name); return ok })
	if sold || len(l.want.order.Menu) == 0 {
		return cloud.Errorf(cloud.Capacity, "InsufficientCapacity", "all requested instance types were unavailable during launch")
	}
	menu := strings.Join(l.want.order.Menu[:min(len(l.want.order.Menu), minSpotTypes)], ", ")
	if slices.ContainsFunc(l.want.order.Menu, l.by.Inventory.Sells) {
		return cloud.Errorf(cloud.Capacity, "InsufficientCapacity", "class %s does not launch %s: no image of class %s boots them, or its settings leave them out", l.want.sel.Class.Ref.Name, menu, l.want.sel.Class.Ref.Name)
	}
	return cloud.Errorf(cloud.Capacity, "InsufficientCapacity", "%s sells none of %s", l.by.Region, menu)
}

// minSpotTypes is how many types it takes for spot to be a good idea.
const minSpotTypes = 5

// warn logs that an order which could have been spot becomes on-demand, and was
// left with so few types that this is likely to happen again.
func (l *launching) warn(kind string, candidates []fleet.Candidate) {
	shapes := map[string]bool{}
	for _, c := range candidates {
		shapes[c.Shape] = true
	}
	if kind != label.OnDemand || !l.want.allows(label.CapacityType, label.Spot) || len(shapes) >= minSpotTypes {
		return
	}
	l.by.Said(say.Line{
		Message: fmt.Sprintf("at least %d instance types are recommended when spot may become on-demand: the order leaves %d (%s)", minSpotTypes, len(shapes), strings.Join(slices.Sorted(maps.Keys(shapes)), ", ")),
		Pool:    l.want.order.Pool,
	})
}
