package disrupt

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/plan"
)

// consolidate has machines go that cost more than they have to, unless others
// are being replaced: these come first.
func (d *decision) consolidate() bool {
	fresh := func(c plan.Command) bool { return !c.Begun && !c.Idle() }
	if d.options.Stay || d.options.Busy || slices.ContainsFunc(d.plan.Commands, fresh) {
		return false
	}
	o := d.options.Consolidate
	o.Pack, o.Planned = d.options.Pack, d.planned
	leave := deletionsIn(d.ending, d.planned, Options{AsIs: true, Consolidate: o})
	found := consolidate.Decide(d.ending, leave.back, o)
	d.later(leave.again)
	d.later(found.Again)
	d.plan.Price, d.plan.Least = found.Price, found.Least
	d.plan.Steps += found.Steps
	for _, c := range found.Commands {
		d.propose(c)
	}
	begun := map[string]bool{}
	for _, c := range d.plan.Commands {
		for _, g := range c.Back {
			begun[g.Claim] = true
		}
	}
	for _, k := range found.Kept {
		if !begun[k.Claim] {
			d.plan.Kept = append(d.plan.Kept, k)
		}
	}
	return true
}
