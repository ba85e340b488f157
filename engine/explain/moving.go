package explain

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// moving says of a machine that pods run on why these are not moved, where its pool has pods moved.
func (e *Explainer) moving(p *world.Place, holds []Hold) {
	i := slices.IndexFunc(holds, func(h Hold) bool { return h.Code == reason.InUse })
	pool := e.world.Pool(p.Pool())
	switch {
	case i < 0 || pool == nil:
		return
	case begun.Intended(p):
		holds[i].Detail = hold.Used + "it goes once these have places elsewhere: " + p.Claim.Going
		return
	case pool.Replicas != nil || pool.Disruption.MoveAfter == nil:
		return
	}
	d := disrupt.Decide(e.world, e.leave(disrupt.Consolidating)).Of(p.Name())
	switch {
	case len(d.Commands) > 0 && d.Commands[0].Why == nil:
		holds[i].Detail = hold.Used + "they can be moved: that saves " + d.Commands[0].Saving.PerHour(e.currency())
	case len(d.Commands) > 0:
		holds[i].Detail = hold.Used + "moving them would save " + d.Commands[0].Saving.PerHour(e.currency()) + ": " + d.Commands[0].Why.Line()
	case len(d.Kept) > 0 && slices.ContainsFunc(holds, func(h Hold) bool { return h.Code == d.Kept[0].Why.Code }):
		holds[i].Detail = hold.Used + "they are not moved for that reason"
	case len(d.Kept) > 0:
		holds[i].Detail = hold.Used + "they are not moved: " + kept(d.Kept[0].Why)
	}
}
