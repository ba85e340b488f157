package fit

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

// Caps are how many of some things a machine takes beside room, and what is taken of them. Where machines are made
// places of, and pods put there, all caps are handled at once: what there is to know of one is in this file, but for its rule.
type Caps struct {
	Limits   []world.DriverLimit
	Attached []Attached // volumes of drivers that count them
}

// Attached is one volume that takes one of a node's attachments of a driver.
type Attached struct{ Driver, ID string }

// CapsOf are those of a new machine of a pool; nil: it is gone.
func CapsOf(_ *world.Pool, s *world.Shape) Caps { return Caps{Limits: s.VolumeLimits} }

// capsOf are what a node of a pool reports; nil: it is of none, or that is gone.
func capsOf(_ *world.Pool, n *world.Node) Caps { return Caps{Limits: n.VolumeLimits} }

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

// takenAs has that be taken that is taken of another's; of its own, it is what is appended to from here on that is apart.
func (c *Caps) takenAs(o *Caps) { c.Attached = slices.Clip(o.Attached) }
