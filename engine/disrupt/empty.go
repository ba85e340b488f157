package disrupt

import (
	"cmp"
	"slices"
	"strings"

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
		for _, p := range places[:min(len(places), d.room(pool, Empty).Left())] {
			d.give(p, Empty)
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
	if !IsEmpty(p) {
		return false
	}
	if at := Quiet(p.Claim) + *pool.Disruption.EmptyAfter; at > d.world.At() {
		d.later(at)
		return false
	}
	return true
}

// IsEmpty reports whether a machine runs nothing that it is kept for.
func IsEmpty(p *world.Place) bool { return !slices.ContainsFunc(p.Pods, Stays) }

// Quiet is since when no pod has come to a machine or gone from it.
func Quiet(c *world.Claim) int64 { return max(c.InitializedAt, c.LastPodEvent) }

// Stays reports whether a pod makes a machine count as used. What a DaemonSet
// or the node itself runs does not, nor what is ending, nor what its owner
// values so little that losing it costs nothing.
func Stays(p *world.Pod) bool { return p.Moves() && weight(p) > 0 }

// one is what evicting an ordinary pod costs, in parts so small that deletion
// costs and priorities are whole numbers of them.
const one = 1 << 27

// weight is what evicting a pod costs: 1 + deletion cost / 2^27 + priority / 2^25.
func weight(p *world.Pod) int64 {
	return one + int64(p.Disruption.DeletionCost) + 4*int64(p.Priority)
}

// Cost is what evicting a pod costs, in thousandths of what it costs for an
// ordinary one: from nothing to ten times as much.
func Cost(p *world.Pod) int64 {
	return min(max(weight(p), 0), 10*one) * 1000 / one
}
