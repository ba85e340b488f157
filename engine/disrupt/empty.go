package disrupt

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// emptiness gives back machines that run nothing and have been quiet for as
// long as their pool says, the dearest first, within the pool's budgets.
func (d *decision) emptiness() {
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
		for _, p := range places[:min(len(places), d.book.Room(pool, plan.Empty).Left())] {
			d.give(p, plan.Empty)
		}
	}
}

// emptyFor reports whether a machine has been empty for as long as its pool
// wants, and notes when it will have been.
func (d *decision) emptyFor(p *world.Place) bool {
	pool := d.world.Pool(p.Pool())
	if pool == nil || pool.Replicas != nil || pool.Disruption.EmptyAfter == nil || !d.movable(p) {
		return false
	}
	if !hold.IsEmpty(p) {
		return false
	}
	if at := hold.Quiet(p.Claim) + *pool.Disruption.EmptyAfter; at > d.world.At() {
		d.later(at)
		return false
	}
	return true
}

// movable reports whether a machine may be given back by choice at all, and
// notes when what keeps it ends.
func (d *decision) movable(p *world.Place) bool {
	h, held := d.book.First(p)
	if held {
		d.later(h.Until)
	}
	return !held
}
