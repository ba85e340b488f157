package fit

import (
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Labels refuses a place whose labels or name the pod's selector or required node affinity does not accept.
func Labels(p *world.Pod, at *Place) *reason.Why {
	if labelled(p, at) {
		return nil
	}
	why := &reason.Why{Code: reason.Label, Subject: at.Name}
	for _, r := range p.NodeSelector {
		if !at.satisfies(r) {
			why.Detail = at.clash(r)
			return why
		}
	}
	if len(p.NodeTerms) == 1 {
		why.Detail = at.termClash(p.NodeTerms[0])
		return why
	}
	why.Detail = "none of the pod's node affinity terms holds"
	for _, t := range p.NodeTerms {
		why.Causes = append(why.Causes, &reason.Why{Code: reason.Label, Detail: at.termClash(t)})
	}
	return why
}

// labelled reports whether the pod's selector and one of its terms accept the place.
func labelled(p *world.Pod, at *Place) bool {
	return eachDemand(p, func(d Demand) bool { return d.Volume != nil || d.met(at) })
}

// Selected reports whether the pod's selector and required node affinity accept the place.
func Selected(p *world.Pod, at *Place) bool { return labelled(p, at) }

func (at *Place) clash(r label.Requirement) string {
	c := label.Clash{Want: r}
	if v, ok := at.Labels[r.Key]; ok {
		c.Offer = label.Is(r.Key, v)
	} else if c.Offer, ok = at.Open.Find(r.Key); !ok {
		c.Unknown = true
	}
	return c.String()
}

func (at *Place) termClash(t world.NodeTerm) string {
	if len(t.Labels) == 0 && t.Name == nil {
		return "the pod's node affinity term is empty, which accepts no node"
	}
	if !at.named(t.Name) {
		return t.Name.String() + ", but the name is " + at.Name
	}
	var all []string
	for _, r := range t.Labels {
		if !at.satisfies(r) {
			all = append(all, at.clash(r))
		}
	}
	return strings.Join(all, "; ")
}

// Narrow settles the open labels as far as the pod needs it, for a pod that may stand there.
func (at *Place) Narrow(p *world.Pod) {
	eachDemand(p, func(d Demand) bool {
		for _, t := range d.Alternatives() {
			if at.Meets(t) {
				at.narrow(t.Labels)
				break
			}
		}
		return true
	})
}

func (at *Place) narrow(s label.Set) {
	for _, r := range s {
		if o, ok := at.Open.Find(r.Key); ok {
			at.Open = at.Open.Without(r.Key).And(o.Meet(r))
		}
	}
}
