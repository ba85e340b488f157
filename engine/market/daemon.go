package market

import (
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// alike is offers of a shape on whose nodes the same daemon sets run.
type alike struct {
	offers  []*world.Offer
	daemons []*world.DaemonSet
}

// byDaemons divides the shape's offers by which daemon sets run on their nodes.
// Some run in one zone only, or on spot only; elsewhere their room is free.
func (p *Pool) byDaemons(s *world.Shape, offers []*world.Offer, daemons []*world.DaemonSet) []alike {
	if len(offers) == 0 {
		return nil
	}
	var everywhere, local []*world.DaemonSet
	bare := &fit.Place{Taints: p.Taints}
	var whole *fit.Place
	for _, d := range daemons {
		at := bare
		if fit.Particular(d) {
			if whole == nil {
				whole = p.place(s)
			}
			at = whole
		}
		switch {
		case choosesSale(d, offers[0]):
			local = append(local, d)
		case fit.Runs(d, at):
			everywhere = append(everywhere, d)
		}
	}
	if len(local) == 0 {
		return []alike{{offers, everywhere}}
	}
	var out []alike
	for _, o := range offers {
		at := sold(whole, o)
		here := slices.Clone(everywhere)
		for _, d := range local {
			if fit.Runs(d, at) {
				here = append(here, d)
			}
		}
		i := slices.IndexFunc(out, func(a alike) bool { return slices.Equal(a.daemons, here) })
		if i < 0 {
			i, out = len(out), append(out, alike{daemons: here})
		}
		out[i].offers = append(out[i].offers, o)
	}
	return out
}

// choosesSale reports whether the daemon set asks for labels that only the offer settles.
func choosesSale(d *world.DaemonSet, o *world.Offer) bool {
	settles := func(s label.Set) bool {
		return slices.ContainsFunc(s, func(r label.Requirement) bool {
			_, own := o.Labels[r.Key]
			return own || r.Key == label.Zone || r.Key == label.CapacityType
		})
	}
	return settles(d.Pod.NodeSelector) || slices.ContainsFunc(d.Pod.NodeTerms, func(t world.NodeTerm) bool { return settles(t.Labels) })
}

// sold is a node of the shape at the place, as the offer settles it.
func sold(shape *fit.Place, o *world.Offer) *fit.Place {
	at := shape.Copy()
	at.Labels = maps.Clone(at.Labels)
	for k, v := range o.Labels {
		at.Labels[k] = v
	}
	at.Labels[label.Zone], at.Labels[label.CapacityType] = o.Zone, o.CapacityType
	at.Open = at.Open.Without(label.Zone, label.CapacityType)
	return at
}
