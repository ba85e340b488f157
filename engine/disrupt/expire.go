package disrupt

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Overstay is how long a machine that has reached its age may stay while others
// are bought for its pods, in seconds.
const Overstay = 15 * 60

// expiration gives back what has reached its pool's age. No budget holds it
// up: a user who sets expireAfter wants no machine to be older. Where others are bought
// for its pods before it goes, it is waited for that, but not for ever.
func (d *deletions) expiration() {
	for _, p := range d.world.Places() {
		c := p.Claim
		if c == nil || c.ExpireAfter <= 0 || p.Deleting() {
			continue
		}
		at := c.Created + c.ExpireAfter
		if d.buyFirst && Replaced(d.world, p) {
			at += Overstay
		}
		if at > d.world.At() {
			d.later(at)
			continue
		}
		d.give(p, plan.Expired)
	}
}

// TooOld reports whether the machine has reached its pool's age.
func TooOld(w *world.World, p *world.Place) bool {
	return p.Claim != nil && p.Claim.ExpireAfter > 0 && p.Claim.Created+p.Claim.ExpireAfter <= w.At()
}

// Replaced reports whether others can be bought for the pods of a machine before
// it goes: there are such pods, and what a static pool has is not bought for pods.
func Replaced(w *world.World, p *world.Place) bool {
	pool := w.Pool(p.Pool())
	return p.Claim != nil && p.Claim.Initialized && pool != nil && pool.Replicas == nil && slices.ContainsFunc(p.Pods, (*world.Pod).Moves)
}
