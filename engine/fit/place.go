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

// Caps are how many of some things a machine takes beside room, and what is taken of them. Where machines are made
// places of, and pods put there, all caps are handled at once: what there is to know of one is below, but for its rule.
type Caps struct {
	Limits   []world.DriverLimit
	Attached []Attached // volumes of drivers that count them
}

// Attached is one volume that takes one of a node's attachments of a driver.
type Attached struct{ Driver, ID string }

// CapsOf are those of a new machine of a pool; nil: it is gone.
func CapsOf(_ *world.Pool, s *world.Shape) Caps { return Caps{Limits: s.VolumeLimits} }

// capsOf are what a node of a pool reports, and what the pool says alone while there is no node; a pool that is nil is none, or gone.
func capsOf(_ *world.Pool, n *world.Node) (c Caps) {
	if n != nil {
		c.Limits = n.VolumeLimits
	}
	return c
}

// lower has each cap be no more than that of another machine that this one may become.
func (c *Caps) lower(o Caps) {
	limits := slices.Clone(c.Limits)
	for _, l := range o.Limits {
		i := slices.IndexFunc(limits, func(had world.DriverLimit) bool { return had.Driver == l.Driver })
		switch {
		case i < 0:
			limits = append(limits, l)
		case l.Count < limits[i].Count:
			limits[i] = l
		}
	}
	c.Limits = limits
}

// announce adds what a node that is still forming does not report yet, and its type has: drivers that have not registered there.
func (c *Caps) announce(o Caps) {
	limits := slices.Clone(c.Limits)
	for _, l := range o.Limits {
		if !slices.ContainsFunc(c.Limits, func(had world.DriverLimit) bool { return had.Driver == l.Driver }) {
			limits = append(limits, l)
		}
	}
	c.Limits = limits
}

// take takes what p takes.
func (c *Caps) take(p *world.Pod) {
	for _, v := range p.Volumes {
		a := Attached{v.Driver, v.ID}
		if v.Driver == "" || slices.Contains(c.Attached, a) {
			continue
		}
		c.Attached = append(slices.Clip(c.Attached), a)
	}
}

// takenAs resets what is taken to what is taken of o. What is taken of either later is not of the other.
func (c *Caps) takenAs(o *Caps) { c.Attached = slices.Clip(o.Attached) }
