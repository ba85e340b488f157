package disrupt

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// decision is one call of Decide.
type decision struct {
	world   *world.World
	options Options
	begun   begun.Begun
	ending  *world.World // the World as if all that has begun were ended
	planned []string     // machines that pods are on their way to there
	plan    plan.Plan
}

func newDecision(w *world.World, o Options) *decision {
	d := &decision{world: w, options: o, begun: begun.In(w), plan: plan.Plan{World: w.Digest(), At: w.At()}}
	d.ending, d.planned = d.begun.Ending(w), slices.Concat(o.Planned, d.begun.Awaited)
	if c := w.Currencies(); len(c) > 0 {
		d.plan.Currency = c[0]
	}
	return d
}

// later notes that something may be due at a time that has not come yet.
func (d *decision) later(at int64) {
	if at > d.world.At() && (d.plan.Again == 0 || at < d.plan.Again) {
		d.plan.Again = at
	}
}

// command adds a command.
func (d *decision) command(c plan.Command) { d.plan.Commands = append(d.plan.Commands, c) }

// Calm is how many seconds no pod has come to a machine or gone from it before its pods are
// moved, whatever its pool says.
const Calm = 15

// propose adds a command that could begin, and says what has it wait.
func (d *decision) propose(c plan.Command) {
	switch {
	case c.Verdict == plan.Wait:
	case d.straying():
		c.Why = &reason.Why{Code: reason.AfterOthers, Detail: "replacements of nodes that stay after all are terminated first"}
	case slices.ContainsFunc(c.Claims(), func(claim string) bool { return slices.Contains(d.options.Skip, claim) }):
		c.Why = &reason.Why{Code: reason.BackOff, Detail: "a recent attempt to disrupt it was called off; it is tried again later"}
	case c.Reason != plan.Expired:
		c.Why = d.restless(c)
	}
	if c.Why == nil { // what is to wait says why
		c.Why = d.awaits(c)
	}
	if c.Why != nil {
		c.Verdict = plan.Wait
	}
	d.command(c)
}

// straying reports whether something is to be given back that was bought for machines which stay after all.
func (d *decision) straying() bool {
	return slices.ContainsFunc(d.begun.Strays, func(p *world.Place) bool { return !begun.Overdue(d.world, p) })
}

// awaits says that what was bought before in a command's place is still to come: for the same machines, or in a pool
// that it buys in. What keeps one from coming keeps the next, and each would be paid for.
func (d *decision) awaits(c plan.Command) *reason.Why {
	for _, p := range d.begun.Strays {
		same := slices.ContainsFunc(c.Claims(), func(claim string) bool { return slices.Contains(p.Claim.Replaces, claim) })
		if begun.Overdue(d.world, p) && (same || slices.ContainsFunc(c.New, func(a plan.Ask) bool { return a.Pool == p.Pool() })) {
			return &reason.Why{Code: reason.Starting, Subject: p.Name(), Detail: fmt.Sprintf("it was bought to replace a node and is not initialized after %d minutes, so nothing more is bought in its place", begun.Patience/60)}
		}
	}
	return nil
}

// restless says that something has only just come to a machine of the command, or gone from it; nil if not.
func (d *decision) restless(c plan.Command) *reason.Why {
	for _, g := range c.Back {
		p := d.world.Place(g.Node)
		if p == nil || p.Claim == nil {
			continue
		}
		if at := hold.LastPodChange(p.Claim) + Calm; at > d.world.At() {
			d.later(at)
			return &reason.Why{Code: reason.TooSoon, Subject: p.Name(), Detail: "a pod has only just come or gone"}
		}
	}
	return nil
}
