package hold

import (
	"fmt"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// BudgetHint is what gives a pool's budgets room.
const BudgetHint = "wait, or widen spec.disruption.budgets"

// Used is how it is said that pods run on a machine, before what comes of that.
const Used = "pods run there, and "

// Unmoved says that the pool of a machine has no pods moved from it; nil if it does.
func (b *Book) Unmoved(p *world.Place) *reason.Why {
	pool := b.world.Pool(p.Pool())
	switch {
	case pool == nil, pool.Replicas != nil:
		h := Hold{Code: reason.Policy}
		if pool != nil {
			h.Code = reason.Static
		}
		return b.Why(p, h)
	case pool.Disruption.MoveAfter == nil && pool.Disruption.EmptyAfter == nil:
		return &reason.Why{Code: reason.Policy, Subject: p.Name(), Detail: fmt.Sprintf("pool %s gives nothing back by choice", pool.ID.Name), Hint: SomethingHint(pool)}
	case pool.Disruption.MoveAfter == nil && IsEmpty(p):
		return Leaves(p)
	case pool.Disruption.MoveAfter == nil:
		return &reason.Why{Code: reason.Policy, Subject: p.Name(), Detail: fmt.Sprintf("pool %s gives only empty nodes back", pool.ID.Name), Hint: MovingHint(pool)}
	}
	return nil
}

// Leaves says of an empty machine that it needs nothing to be moved.
func Leaves(p *world.Place) *reason.Why {
	return &reason.Why{Code: reason.Empty, Subject: p.Name(), Detail: "it is empty, and goes by itself once that is allowed"}
}

// Unplannable says of each pod of the machine for which no place can be planned that it keeps the machine.
func Unplannable(p *world.Place) []*reason.Why {
	var out []*reason.Why
	for _, pod := range p.Pods {
		if pod.Moves() && !pod.Plannable() {
			out = append(out, &reason.Why{Code: reason.Invalid, Subject: pod.String(), Detail: "the pod cannot be planned for, so it is not known where else it would run"})
		}
	}
	return out
}

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
