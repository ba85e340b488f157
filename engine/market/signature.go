package market

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Signature is what pods demand of machines by label, taint and volume, and what meets it.
type Signature struct {
	Pod    *world.Pod
	Offers Set  // that stand
	Open   bool // it demands labels that only pods settle
}

// Sign finds which offers stand for pods like p. Of pools whose purchases have to wait none does.
func (m *Market) Sign(p *world.Pod, b Backoffs) *Signature {
	s := &Signature{Pod: p, Offers: NewSet(len(m.Offers))}
	groups := alternatives(p)
	for _, pl := range m.Pools {
		if pl.Like() {
			continue // the one it is like is asked
		}
		if len(fit.Untolerated(p.Tolerations, pl.Taints)) > 0 {
			continue
		}
		if b.Of(p.Key, pl.Pool) != nil {
			continue
		}
		d := pl.demand(groups)
		s.Open = s.Open || d.open
		for _, t := range pl.Types {
			if !d.shape(t) {
				continue
			}
			for i := t.First; i < t.Last; i++ {
				if d.offer(t, m.Offers[i].Offer) {
					s.Offers.Add(i)
				}
			}
		}
	}
	for _, r := range m.Rules.Uncompiled(p) {
		for i := range s.Offers.All {
			if !r.Permits(p, m.At(i)) {
				s.Offers.Drop(i)
			}
		}
	}
	return s
}

// demand is a pod's demands on labels as one pool sees them: alternatives of
// which one has to hold in each group, settled as far as the pool settles them.
type demand struct {
	groups     [][]want
	open       bool
	impossible bool
}

// want is one alternative: what is left to ask of shape and offer.
type want struct {
	shape []ask
	offer []ask
}

// ask is one requirement, and its meeting with the pool's own on the same key.
type ask struct {
	label.Requirement
	meet label.Requirement
}

// alternatives are the pod's demands on labels and the name of its machine: of each group one term has to hold.
func alternatives(pod *world.Pod) [][]world.NodeTerm {
	var out [][]world.NodeTerm
	for _, d := range fit.Demands(pod) {
		out = append(out, d.Alternatives())
	}
	return out
}

func (p *Pool) demand(groups [][]world.NodeTerm) demand {
	var d demand
	for _, terms := range groups {
		d.group(p, terms)
	}
	return d
}

func (d *demand) group(p *Pool, terms []world.NodeTerm) {
	var alternatives []want
	for _, t := range terms {
		if fit.NamesNone(t) {
			continue
		}
		w, open, ok := p.want(t.Labels)
		if !ok {
			continue
		}
		d.open = d.open || open
		if len(w.shape)+len(w.offer) == 0 {
			return
		}
		alternatives = append(alternatives, w)
	}
	if len(alternatives) == 0 {
		d.impossible = true
	}
	d.groups = append(d.groups, alternatives)
}

// want settles what the pool itself settles of s; ok is false if it cannot be met.
func (p *Pool) want(s label.Set) (w want, open, ok bool) {
	for _, r := range s {
		q, asked := p.Requirements.Find(r.Key)
		v, fixed := p.Fixed(r.Key)
		switch {
		case fixed:
			if !r.Has(v) {
				return w, open, false
			}
		case r.Key == label.Hostname: // which a new node has, and of which nothing else is known
			if !r.Negative() && !r.Any() {
				return w, open, false
			}
		case p.Known[r.Key]:
			a := ask{r, r}
			if asked {
				a.meet = r.Meet(q)
			}
			if r.Key == label.Zone || r.Key == label.CapacityType {
				w.offer = append(w.offer, a)
			} else {
				w.shape = append(w.shape, a)
			}
		case asked:
			if !Settles(q, r) {
				return w, open, false
			}
			open = true
		case !r.Negative():
			return w, open, false
		}
	}
	return w, open, true
}

// Settles reports whether an open label q, met by demand r, comes to one value of a few.
func Settles(q, r label.Requirement) bool {
	m := q.Meet(r)
	return m.Op() == label.In || r.Negative() && (q.Negative() || q.Meets(r))
}

func (d *demand) shape(t *Type) bool {
	if d.impossible {
		return false
	}
	for _, g := range d.groups {
		if !slices.ContainsFunc(g, func(w want) bool { return w.shapeMet(t) }) {
			return false
		}
	}
	return true
}

func (d *demand) offer(t *Type, o *world.Offer) bool {
	for _, g := range d.groups {
		if !slices.ContainsFunc(g, func(w want) bool { return w.offerMet(t, o) }) {
			return false
		}
	}
	return true
}

// shapeMet reports whether the shape, in some offer, may meet the alternative.
func (w *want) shapeMet(t *Type) bool {
	for i := range w.shape {
		a := &w.shape[i]
		if a.Key == label.InstanceType {
			if !a.meet.Has(t.Shape.Name) {
				return false
			}
			continue
		}
		l, ok := t.Label(a.Key)
		if ok && !l.Meets(a.meet) && !(l.Negative() && a.Negative()) || !ok && !a.Negative() && !offered(t.Shape, a.Requirement) {
			return false
		}
	}
	return true
}

// offerMet reports whether the offer of the shape meets the alternative.
func (w *want) offerMet(t *Type, o *world.Offer) bool {
	if !w.shapeMet(t) {
		return false
	}
	for i := range w.offer {
		v := o.Zone
		if w.offer[i].Key == label.CapacityType {
			v = o.CapacityType
		}
		if !w.offer[i].Has(v) {
			return false
		}
	}
	for i := range w.shape {
		a := &w.shape[i]
		if _, ok := t.Label(a.Key); ok || a.Key == label.InstanceType {
			continue
		}
		if v, ok := o.Labels[a.Key]; ok && !a.Has(v) || !ok && !a.Negative() {
			return false
		}
	}
	return true
}

// Stands reports whether some offer of the type meets the signature.
func (m *Market) Stands(t *Type, s *Signature) bool {
	for i := t.First; i < t.Last; i++ {
		if s.Offers.Has(i) {
			return true
		}
	}
	return false
}
