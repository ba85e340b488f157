package begun

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

// Replicas are the machines of a static pool as they count for its number.
type Replicas struct {
	Here      []*world.Place // those that are not being deleted, those left out that were bought for commands which were taken back
	Replacing []*world.Place // of these, those that end as soon as what was bought instead is ready
}

// Missing is how many machines the pool is to have besides. What is being replaced is there until it ends.
func (r Replicas) Missing(pool *world.Pool) int { return max(*pool.Replicas-len(r.Here), 0) }

// Surplus is how many machines the pool has that it is not to have, once what is being replaced has ended.
func (r Replicas) Surplus(pool *world.Pool) int {
	return max(len(r.Here)-len(r.Replacing)-*pool.Replicas, 0)
}

// Staying are those that nothing was bought instead of.
func (r Replicas) Staying() []*world.Place {
	return slices.DeleteFunc(slices.Clone(r.Here), func(p *world.Place) bool { return slices.Contains(r.Replacing, p) })
}

// Replicas counts the machines of each static pool. What was bought for a command that was taken back is given
// back, or used by others and counts from then on.
func (b Begun) Replicas(w *world.World) map[world.PoolID]Replicas {
	out := map[world.PoolID]Replicas{}
	for _, p := range w.Places() {
		if p.Claim != nil && !p.Deleting() && Static(w, p) && !slices.Contains(b.Strays, p) {
			r := out[p.Pool()]
			r.Here = append(r.Here, p)
			out[p.Pool()] = r
		}
	}
	for _, c := range b.Commands {
		for _, p := range c.Back {
			if Static(w, p) {
				r := out[p.Pool()]
				r.Replacing = append(r.Replacing, p)
				out[p.Pool()] = r
			}
		}
	}
	return out
}

// Static reports whether a machine is of a static pool.
func Static(w *world.World, p *world.Place) bool {
	pool := w.Pool(p.Pool())
	return pool != nil && pool.Replicas != nil
}
