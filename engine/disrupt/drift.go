package disrupt

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// drift has machines replaced that are no longer what their pools ask for, as many as budgets let go; those of static pools are in static.go. First go those that
// nothing has only just come to or gone from, of these what runs nothing, then the oldest.
func (d *decision) drift() {
	w := leaving(d.ending, d.planned)
	r := replacer{decision: d, world: w, book: hold.Open(w, d.planned), of: plan.Drifted, most: maxDrifted}
	var free []*world.Place
	for _, p := range drifted(w, d.options.Skip, false) {
		pool := w.Pool(p.Pool())
		why, _ := forbidden(r.book, p, plan.Drifted)
		if why == nil && r.book.Room(pool, plan.Drifted).Left() == 0 {
			why = &reason.Why{Code: reason.Budget, Subject: pool.ID.Name, Detail: noFurther}
		}
		if why != nil {
			d.stays(p, plan.Drifted, why)
			continue
		}
		free = append(free, p)
	}
	r.replace(free)
}

// noFurther is how it is said that budgets are used up.
const noFurther = "its budgets let no further node go now"

// leaving is the World in which what is empty or too old is ending: it takes of
// the budgets, and nothing is to count on it.
func leaving(w *world.World, planned []string) *world.World {
	if back := deletionsIn(w, planned, Options{AsIs: true}).going; len(back) > 0 {
		return begun.Ending(w, back...)
	}
	return w
}

// Eligible is how many drifted machines are to be replaced, now or later.
func Eligible(w *world.World) int {
	ending := begun.In(w).Ending(w)
	return len(drifted(ending, nil, false)) + len(drifted(ending, nil, true))
}

// drifted are the machines of static pools, or of others, that may be replaced, in the order in which that is tried.
func drifted(w *world.World, skip []string, static bool) []*world.Place {
	var out []*world.Place
	for _, p := range w.Places() {
		if p.Node == nil || p.Claim == nil || p.Claim.Drifted == "" || !p.Claim.Initialized || p.Deleting() || slices.Contains(skip, p.Claim.Name) {
			continue
		}
		if pool := w.Pool(p.Pool()); pool != nil && pool.ID.Kind == world.NodePool && (pool.Replicas != nil) == static { // Provisioners know of no drift
			out = append(out, p)
		}
	}
	moving := func(p *world.Place) int {
		if slices.ContainsFunc(p.Pods, (*world.Pod).Moves) {
			return 1
		}
		return 0
	}
	restless := func(p *world.Place) int {
		if hold.LastPodChange(p.Claim)+Calm > w.At() {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b *world.Place) int {
		return cmp.Or(cmp.Compare(restless(a), restless(b)), cmp.Compare(moving(a), moving(b)), cmp.Compare(a.Claim.Created, b.Claim.Created), strings.Compare(a.Name(), b.Name()))
	})
	return out
}
