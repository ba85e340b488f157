package fit

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Demand is what a pod demands of the labels or the name of its machine: one of
// some alternatives has to hold. A pod has several, all of which have to hold.
type Demand struct {
	Volume   *world.Volume // that is reached from there only; nil if the pod itself demands it
	Selector label.Set     // the only alternative, if the pod's selector demands it

	terms  []world.NodeTerm // or one of these,
	places []label.Set      // or of these
}

// Alternatives are the terms of which one has to hold.
func (d *Demand) Alternatives() []world.NodeTerm {
	switch {
	case d.terms != nil:
		return d.terms
	case d.places != nil:
		out := make([]world.NodeTerm, len(d.places))
		for i, s := range d.places {
			out[i].Labels = s
		}
		return out
	}
	return []world.NodeTerm{{Labels: d.Selector}}
}

// met reports whether the place satisfies one of the alternatives.
func (d *Demand) met(at *Place) bool {
	switch {
	case d.terms != nil:
		for i := range d.terms {
			if at.Meets(d.terms[i]) {
				return true
			}
		}
		return false
	case d.places != nil:
		return slices.ContainsFunc(d.places, at.Has)
	}
	return at.Has(d.Selector)
}

// eachDemand calls ok for every demand of the pod until that is false, and reports whether it never was.
func eachDemand(p *world.Pod, ok func(Demand) bool) bool {
	if len(p.NodeSelector) > 0 && !ok(Demand{Selector: p.NodeSelector}) {
		return false
	}
	if len(p.NodeTerms) > 0 && !ok(Demand{terms: p.NodeTerms}) {
		return false
	}
	for i := range p.Volumes {
		v := &p.Volumes[i]
		anywhere := len(v.Places) == 0 || slices.ContainsFunc(v.Places, func(s label.Set) bool { return len(s) == 0 })
		if !anywhere && !ok(Demand{Volume: v, places: v.Places}) {
			return false
		}
	}
	return true
}

// Demands are all that a pod demands of the labels and the name of its machine:
// by its selector, its required node affinity and its volumes.
func Demands(p *world.Pod) []Demand {
	var out []Demand
	eachDemand(p, func(d Demand) bool {
		out = append(out, d)
		return true
	})
	return out
}

// NamesNone reports whether a term of node affinity accepts no machine that is not there yet: it is empty, or asks for one by name.
func NamesNone(t world.NodeTerm) bool {
	return len(t.Labels) == 0 && t.Name == nil || t.Name != nil && !t.Name.Not
}
