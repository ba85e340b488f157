package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// signature is what pods demand of machines by label, taint and volume, and what meets it.
type signature struct {
	pod    *world.Pod
	offers set  // that stand
	open   bool // it demands labels that only pods settle
	stands set  // machines there or on their way that stand; nil until asked for

	objections map[*bin]string // kinds of objection, by bin
}

// sign finds which offers stand for pods like p. Of pools whose purchases have to wait none does.
func (m *market) sign(p *world.Pod, b backoffs) *signature {
	s := &signature{pod: p, offers: newSet(len(m.offers))}
	for _, pl := range m.pools {
		if len(fit.Untolerated(p.Tolerations, pl.Taints)) > 0 {
			continue
		}
		if b.of(p.Key, pl.Pool) != nil {
			continue
		}
		d := pl.demand(p)
		s.open = s.open || d.open
		for _, t := range pl.types {
			if !d.shape(t) {
				continue
			}
			for i := t.first; i < t.last; i++ {
				if d.offer(t, m.offers[i].Offer) {
					s.offers.add(i)
				}
			}
		}
	}
	return s
}

// demand is a pod's demands on labels as one pool sees them: alternatives of
// which one has to hold in each group, settled as far as the pool settles them.
type demand struct {
	groups [][]want
	open   bool
	never  bool
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

func (p *pool) demand(pod *world.Pod) demand {
	var d demand
	d.group(p, []label.Set{pod.NodeSelector}, nil)
	if len(pod.NodeTerms) > 0 {
		sets := make([]label.Set, len(pod.NodeTerms))
		for i, t := range pod.NodeTerms {
			sets[i] = t.Labels
		}
		d.group(p, sets, pod.NodeTerms)
	}
	for _, v := range pod.Volumes {
		if len(v.Places) > 0 {
			d.group(p, v.Places, nil)
		}
	}
	return d
}

func (d *demand) group(p *pool, sets []label.Set, terms []world.NodeTerm) {
	var alternatives []want
	for i, s := range sets {
		if terms != nil && (len(s) == 0 && terms[i].Name == nil || terms[i].Name != nil && !terms[i].Name.Not) {
			continue
		}
		w, open, ok := p.want(s)
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
		d.never = true
	}
	d.groups = append(d.groups, alternatives)
}

// want settles what the pool itself settles of s; ok is false if it cannot be met.
func (p *pool) want(s label.Set) (w want, open, ok bool) {
	for _, r := range s {
		q, asked := p.Requirements.Find(r.Key)
		v, fixed := p.fixed(r.Key)
		switch {
		case fixed:
			if !r.Has(v) {
				return w, open, false
			}
		case r.Key == label.Hostname:
			if !r.Negative() {
				return w, open, false
			}
		case p.known[r.Key]:
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
			if !settles(q, r) {
				return w, open, false
			}
			open = true
		case !r.Negative():
			return w, open, false
		}
	}
	return w, open, true
}

// settles reports whether an open label q, met by demand r, comes to one value of a few.
func settles(q, r label.Requirement) bool {
	m := q.Meet(r)
	return m.Op() == label.In || r.Negative() && (q.Negative() || q.Meets(r))
}

// fixed is the value of a label that all nodes of the pool have.
func (p *pool) fixed(key string) (string, bool) {
	if v, ok := p.Labels[key]; ok {
		return v, true
	}
	switch key {
	case fit.PoolLabel(p.ID):
		return p.ID.Name, true
	case label.Registered, label.Initialized:
		return "true", true
	}
	return "", false
}

func (d *demand) shape(t *machine) bool {
	if d.never {
		return false
	}
	for _, g := range d.groups {
		if !slices.ContainsFunc(g, func(w want) bool { return w.shapeMet(t) }) {
			return false
		}
	}
	return true
}

func (d *demand) offer(t *machine, o *world.Offer) bool {
	for _, g := range d.groups {
		if !slices.ContainsFunc(g, func(w want) bool { return w.offerMet(t, o) }) {
			return false
		}
	}
	return true
}

// shapeMet reports whether the shape, in some offer, may meet the alternative.
func (w *want) shapeMet(t *machine) bool {
	for i := range w.shape {
		a := &w.shape[i]
		if a.Key == label.InstanceType {
			if !a.meet.Has(t.shape.Name) {
				return false
			}
			continue
		}
		l, ok := t.label(a.Key)
		if ok && !l.Meets(a.meet) && !(l.Negative() && a.Negative()) || !ok && !a.Negative() && !offered(t.shape, a.Requirement) {
			return false
		}
	}
	return true
}

// offerMet reports whether the offer of the shape meets the alternative.
func (w *want) offerMet(t *machine, o *world.Offer) bool {
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
		if _, ok := t.label(a.Key); ok || a.Key == label.InstanceType {
			continue
		}
		if v, ok := o.Labels[a.Key]; ok && !a.Has(v) || !ok && !a.Negative() {
			return false
		}
	}
	return true
}

// label is what the shape says of a label of its nodes.
func (t *machine) label(key string) (label.Requirement, bool) {
	l, ok := t.shape.Labels.Find(key)
	if !ok && key == label.Region && t.pool.catalog.Region != "" {
		return label.Is(key, t.pool.catalog.Region), true
	}
	return l, ok
}

// at is what a node bought by the offer would be like.
func (m *market) at(offer int) *fit.Place {
	if m.places[offer] == nil {
		o := &m.offers[offer]
		at := sold(o.machine.at(), o.Offer)
		at.Ports = o.machine.ports
		m.places[offer] = at
	}
	return m.places[offer]
}
