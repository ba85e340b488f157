package fit

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Place is a machine as the rules see it: a node, a claim on its way, or a machine only planned.
type Place struct {
	Name     string
	Planned  bool              // it has no name of its own yet, so no pod can ask for it by name
	Labels   map[string]string // that it has
	Open     label.Set         // labels that are not settled yet, and what they may become
	Sealed   bool              // the cloud settles them, not the pods put there
	Taints   []world.Taint     // that count; those that go away by themselves are left out
	Cordoned bool
	Deleting bool
	Free     amount.List
	Ports    []world.Port // taken
	Company  []*world.Pod // of daemon sets: they will run there, and do not yet

	Caps
	NodeDevices
}

// PoolLabel is the label by which the pool's nodes name it.
func PoolLabel(id world.PoolID) string {
	if id.Kind == world.Provisioner {
		return label.Provisioner
	}
	return label.NodePool
}

// Settle makes known what a label of a planned machine may be: one value, one of several, or absence.
// One that may also be absent is not known, even if there is only one value that it may have.
func (at *Place) Settle(r label.Requirement) {
	switch {
	case r.Op() == label.In && len(r.Values) == 1 && r.Present:
		at.Labels[r.Key] = r.Values[0]
	case r.Op() != label.DoesNotExist:
		at.Open = at.Open.And(r)
	}
}

// Put takes the room of p, and what else it takes.
func (at *Place) Put(p *world.Pod) {
	at.Free = at.Free.Minus(p.Requests)
	at.Take(p)
}

// Take takes what p takes beside room: ports, attachments and devices.
func (at *Place) Take(p *world.Pod) {
	at.Ports = append(slices.Clip(at.Ports), p.Ports...)
	at.Caps.take(p)
	if hasDevices(p) {
		at.serve(p, at.Name)
	}
}

// TakenAs has that be taken, beside room, that is taken at another place.
func (at *Place) TakenAs(o *Place) {
	at.Ports = slices.Clip(o.Ports)
	at.Caps.takenAs(&o.Caps)
	at.servedAs(&o.NodeDevices, at.Name)
}

// Copy returns a place that can be filled without changing at.
func (at *Place) Copy() *Place {
	c := *at
	c.Ports, c.Served = slices.Clip(at.Ports), slices.Clip(at.Served)
	c.Caps.takenAs(&at.Caps)
	return &c
}

// Has reports whether the place's labels satisfy the set, or may still come to.
func (at *Place) Has(s label.Set) bool {
	for i := range s {
		if !at.satisfies(s[i]) {
			return false
		}
	}
	return true
}

// Meets reports whether the place satisfies a node affinity term. A term that asks for nothing accepts nothing.
func (at *Place) Meets(t world.NodeTerm) bool {
	if len(t.Labels) == 0 && t.Name == nil {
		return false
	}
	return at.named(t.Name) && at.Has(t.Labels)
}

func (at *Place) named(r *label.Requirement) bool {
	switch {
	case r == nil:
		return true
	case at.Planned:
		return r.Not
	}
	return r.Has(at.Name)
}

func (at *Place) satisfies(r label.Requirement) bool {
	if v, ok := at.Labels[r.Key]; ok {
		return r.Has(v)
	}
	o, open := at.Open.Find(r.Key)
	switch {
	case !open:
		return r.Negative() || r.Key == label.Hostname && at.Planned && r.Any()
	case at.Sealed:
		return !o.Not && (o.Present || r.Negative()) && !slices.ContainsFunc(o.Values, func(v string) bool { return !r.Has(v) })
	}
	return o.Meets(r) || !o.Present && r.Negative()
}
