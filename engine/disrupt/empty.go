package disrupt

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// emptiness gives back machines that run nothing and have been quiet for as
// long as their pool says, the dearest first, within the pool's budgets.
func (d *deletions) emptiness() {
	due := map[world.PoolID][]*world.Place{}
	for _, p := range d.world.Places() {
		if d.emptyFor(p) {
			due[p.Pool()] = append(due[p.Pool()], p)
		}
	}
	for _, pool := range d.world.Pools() {
		places := due[pool.ID]
		if len(places) == 0 {
			continue
		}
		slices.SortStableFunc(places, func(a, b *world.Place) int {
			return cmp.Or(cmp.Compare(plan.PriceOf(d.world, b), plan.PriceOf(d.world, a)), strings.Compare(a.Name(), b.Name()))
		})
		n := len(places)
		if !d.unbudgeted {
			n = min(n, d.book.Room(pool, plan.Empty).Left())
		}
		for _, p := range places[:n] {
			d.give(p, plan.Empty)
		}
		for _, p := range places[n:] {
			d.keep(p, hold.Hold{Code: reason.Budget})
		}
	}
}

// emptyFor reports whether a machine has been empty for as long as its pool
// wants, and notes when it will have been.
func (d *deletions) emptyFor(p *world.Place) bool {
	if !hold.IsEmpty(p) {
		return false
	}
	pool := d.world.Pool(p.Pool())
	for _, h := range d.book.Any(p) {
		if h.Code == reason.DoNotDisrupt && p.Claim.Initialized {
			d.keep(p, h)
			break
		}
	}
	if pool == nil || pool.Replicas != nil || pool.Disruption.EmptyAfter == nil {
		return false
	}
	if h, held := d.book.First(p); held {
		d.later(h.Until)
		return false
	}
	if at := hold.LastPodChange(p.Claim) + *pool.Disruption.EmptyAfter; at > d.world.At() {
		d.later(at)
		return false
	}
	return true
}

// Closed are the pools that have nodes which could be given back, and whose budgets let no empty one go at all now.
func Closed(w *world.World) []*world.Pool {
	has := map[world.PoolID]bool{}
	for _, p := range w.Places() {
		if p.Node != nil && p.Claim != nil && p.Claim.Initialized && !p.Deleting() {
			has[p.Pool()] = true
		}
	}
	var out []*world.Pool
	for _, p := range w.Pools() {
		if has[p.ID] && p.ID.Kind == world.NodePool && p.Replicas == nil && hold.Allowed(p.Disruption.Budgets, plan.Empty, 1, w.At()) == 0 {
			out = append(out, p)
		}
	}
	return out
}
