package hold

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

// LastPodChange is when a pod last came to a machine or went from it; no sooner than when it was initialized.
func LastPodChange(c *world.Claim) int64 { return max(c.InitializedAt, c.LastPodEvent) }

// IsEmpty reports whether a machine runs nothing that it is kept for.
func IsEmpty(p *world.Place) bool { return !slices.ContainsFunc(p.Pods, Stays) }

// Stays reports whether a pod makes a machine count as used. What a DaemonSet
// or the node itself runs does not, nor what is ending, nor what its owner
// values so little that losing it costs nothing. Room that is held for pods to
// come is what the machine is kept for, although to move it costs nothing.
func Stays(p *world.Pod) bool { return p.Virtual || p.Moves() && weight(p) > 0 }

// weight is what evicting a pod costs: 1 + deletion cost / 2^27 + priority / 2^25.
func weight(p *world.Pod) int64 {
	return ordinaryEvictionCost + int64(p.Disruption.DeletionCost) + 4*int64(p.Priority)
}

// ordinaryEvictionCost is what evicting an ordinary pod costs, in parts so small that deletion
// costs and priorities are whole numbers of them.
const ordinaryEvictionCost = 1 << 27

// Cost is what evicting a pod costs, in thousandths of what it costs for an
// ordinary one: from nothing to ten times as much.
func Cost(p *world.Pod) int64 {
	return min(max(weight(p), 0), 10*ordinaryEvictionCost) * 1000 / ordinaryEvictionCost
}
