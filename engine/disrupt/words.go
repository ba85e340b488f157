package disrupt

import "github.com/tenon-sh/tenon/engine/world"

// A Provisioner has its own fields for what a NodePool says by consolidateAfter
// and consolidationPolicy; advice names those that the object has.

// Nothing says how a pool tells that none of its empty nodes is given back.
func Nothing(p *world.Pool) string {
	if p.ID.Kind == world.Provisioner {
		return "neither consolidation.enabled nor ttlSecondsAfterEmpty is set"
	}
	return "consolidateAfter is Never"
}

// SomethingHint is what has a pool give empty nodes back.
func SomethingHint(p *world.Pool) string {
	if p.ID.Kind == world.Provisioner {
		return "set consolidation.enabled: true, or ttlSecondsAfterEmpty for empty nodes alone"
	}
	return "set consolidateAfter"
}

// MovingHint is what has a pool give back nodes on which pods run.
func MovingHint(p *world.Pool) string {
	if p.ID.Kind == world.Provisioner {
		return "set consolidation.enabled: true in place of ttlSecondsAfterEmpty"
	}
	return "set consolidationPolicy: WhenEmptyOrUnderutilized"
}
