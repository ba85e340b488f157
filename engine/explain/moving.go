package explain

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// moving says of a machine that pods run on what comes of these, and why they are not moved where its pool has pods moved.
func (e *Explainer) moving(p *world.Place, holds []Hold) {
	i := slices.IndexFunc(holds, func(h Hold) bool { return h.Code == reason.InUse })
	if i < 0 {
		return
	}
	holds[i].Outcome = hold.OnlyEmpty
	outcome := e.outcome(p, holds)
	if outcome == nil {
		return
	}
	holds[i].Detail, holds[i].Outcome = hold.Used+outcome(several), outcome(several)
	if len(holds[i].Pods) == 1 {
		holds[i].Outcome = outcome(one)
	}
}

// outcome puts into words what comes of the pods that run on a machine, of one or of several; nil if the pool moves none.
func (e *Explainer) outcome(p *world.Place, holds []Hold) func(number) string {
	pool := e.world.Pool(p.Pool())
	switch {
	case pool == nil:
		return nil
	case begun.Intended(p):
		return func(n number) string { return "it goes once " + n.placed + " elsewhere: " + p.Claim.Going }
	case pool.Replicas != nil || pool.Disruption.MoveAfter == nil:
		return nil
	}
	d := disrupt.Decide(e.world, e.leave(disrupt.Consolidating)).Of(p.Name())
	switch {
	case len(d.Commands) > 0 && d.Commands[0].Why == nil:
		return func(n number) string {
			return n.they + " can be moved: that saves " + d.Commands[0].Saving.PerHour(e.currency())
		}
	case len(d.Commands) > 0:
		return func(n number) string {
			return "moving " + n.them + " would save " + d.Commands[0].Saving.PerHour(e.currency()) + ": " + d.Commands[0].Why.Line()
		}
	case len(d.Kept) == 0:
		return nil
	case slices.ContainsFunc(holds, func(h Hold) bool { return h.Code == d.Kept[0].Why.Code }):
		return func(n number) string { return n.they + " " + n.are + " not moved for that reason" }
	}
	return func(n number) string { return n.they + " " + n.are + " not moved: " + kept(d.Kept[0].Why) }
}

// number are the words in which one pod and several differ.
type number struct{ they, are, them, placed string }

var (
	one     = number{they: "it", are: "is", them: "it", placed: "it has a place"}
	several = number{they: "they", are: "are", them: "them", placed: "these have places"}
)
