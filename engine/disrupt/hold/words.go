package hold

import (
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
)

// BudgetHint is what gives a pool's budgets room.
const BudgetHint = "wait, or widen spec.disruption.budgets"

// Used is how it is said that pods run on a machine, before what comes of that.
const Used = "pods run there, and "

// OnlyEmpty is what comes of pods on a machine whose pool moves none.
const OnlyEmpty = "only empty nodes are given back"

// A Provisioner has its own fields for what a NodePool says by consolidateAfter
// and consolidationPolicy; advice names those that the object has.

// Nothing says by which setting of a pool none of its empty nodes is given back.
func Nothing(p *world.Pool) string {
	if p.ID.Kind == world.Provisioner {
		return "neither consolidation.enabled nor ttlSecondsAfterEmpty is set"
	}
	return "consolidateAfter is Never"
}

// somethingHint is what has a pool give empty nodes back.
func somethingHint(p *world.Pool) string {
	if p.ID.Kind == world.Provisioner {
		return "set consolidation.enabled: true, or ttlSecondsAfterEmpty for empty nodes alone"
	}
	return "set consolidateAfter"
}

// movingHint is what has a pool give back nodes on which pods run.
func movingHint(p *world.Pool) string {
	if p.ID.Kind == world.Provisioner {
		return "set consolidation.enabled: true in place of ttlSecondsAfterEmpty"
	}
	return "set consolidationPolicy: WhenEmptyOrUnderutilized"
}

// Span writes seconds as 30s, 5m or 720h.
func Span(seconds int64) string {
	d := (time.Duration(seconds) * time.Second).String()
	if s, ok := strings.CutSuffix(d, "m0s"); ok {
		d = s + "m"
	}
	if s, ok := strings.CutSuffix(d, "h0m"); ok {
		d = s + "h"
	}
	return d
}

// clock writes a time.
func clock(at int64) string { return time.Unix(at, 0).UTC().Format(time.RFC3339) }
