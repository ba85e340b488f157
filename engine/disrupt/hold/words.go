package hold

import (
	"fmt"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Words says how a hold keeps a machine, and what would end that; the hint is
// empty if nothing that a person does would. Of two looks at the same hold the
// words are the same: what moves with every look is not in them.
func (b *Book) Words(p *world.Place, h Hold) (detail, hint string) {
	pool := b.world.Pool(p.Pool())
	switch h.Code {
	case reason.Foreign:
		return "no pool asked for it, and only nodes of pools are given back", ""
	case reason.Deleting:
		return "it is going already", ""
	case reason.Starting:
		return "it has not joined and become complete yet", ""
	case reason.DoNotDisrupt:
		if h.Until > 0 {
			return "it is annotated karpenter.sh/do-not-disrupt until " + clock(h.Until), "take the annotation off"
		}
		return "it is annotated karpenter.sh/do-not-disrupt", "take the annotation off"
	case reason.Promised:
		return "waiting pods are on their way there", ""
	case reason.Alone:
		return "the pod has no controller that would recreate it",
			`have a Deployment or another controller run it, delete it, or annotate it karpenter.sh/do-not-disrupt: "false"`
	case reason.Guarded:
		return h.guarding()
	case reason.Policy:
		if pool == nil {
			return "its pool is gone, so nothing says when it may be given back", ""
		}
		return fmt.Sprintf("%s %s gives no empty node back: %s", pool.ID.Kind, pool.ID.Name, Nothing(pool)), SomethingHint(pool)
	case reason.Static:
		return fmt.Sprintf("%s %s is static and keeps %s", pool.ID.Kind, pool.ID.Name, amount.Count(*pool.Replicas, "node")), "lower its replicas"
	case reason.TooSoon:
		return "its pool waits until no pod has come or gone for " + Span(*pool.Disruption.EmptyAfter), ""
	case reason.Budget:
		r := b.Room(pool, plan.Empty)
		return fmt.Sprintf("its pool's budgets let %d of %s go at once, and %d go already or are not ready", r.Allowed, amount.Count(r.Machines, "node"), r.Going), BudgetHint
	case reason.InUse:
		return Used + "only empty nodes are given back", ""
	}
	return string(h.Code), ""
}

// BudgetHint is what gives a pool's budgets room.
const BudgetHint = "wait, or widen spec.disruption.budgets"

// Used is how it is said that pods run on a machine, before what comes of that.
const Used = "pods run there, and "

// Why is a hold as a reason why a machine is kept.
func (b *Book) Why(p *world.Place, h Hold) *reason.Why {
	why := &reason.Why{Code: h.Code, Subject: p.Name()}
	if h.Pod != nil {
		why.Subject = h.Pod.String()
	}
	why.Detail, why.Hint = b.Words(p, h)
	return why
}

// guarding says how pod disruption budgets keep the pod, and what would end that.
func (h Hold) guarding() (detail, hint string) {
	if len(h.Guards) == 1 {
		return fmt.Sprintf("PodDisruptionBudget %s allows no eviction now", h.Guards[0]), "run more replicas than it needs, or wait until all are healthy"
	}
	names := make([]string, len(h.Guards))
	for i, g := range h.Guards {
		names[i] = g.String()
	}
	return "PodDisruptionBudgets " + strings.Join(names, " and ") + " both guard it, and the API server evicts no such pod", "have only one of them select the pod"
}

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
