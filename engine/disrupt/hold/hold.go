// Package hold says what keeps machines from being given back, and in which words.
//
// A hold is one thing that keeps one machine: a pod, an annotation, a budget, its
// pool. What a pool's budgets allow is in budget.go, what a pod counts for in
// pods.go, why a pool has no pods moved in unmoved.go, and words on pools in words.go.
package hold

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Hold is one thing that keeps a machine from being given back by choice.
type Hold struct {
	Code   reason.Code
	Pod    *world.Pod     // because of which; nil if of none
	Guards []*world.Guard // the pod disruption budgets that keep the pod
	Until  int64          // when it ends by itself; 0: not by time
}

// OfPod reports whether it is a pod that may not be evicted now, which Keeps found:
// of the other holds that name a pod, one is on its way and one just runs there.
func (h Hold) OfPod() bool {
	return h.Pod != nil && h.Code != reason.Promised && h.Code != reason.InUse
}

// Empty returns everything that keeps a machine from being given back as an
// empty one now. Nothing keeps one that has reached its age.
func (b *Book) Empty(p *world.Place) []Hold {
	out := b.Any(p)
	pool := b.world.Pool(p.Pool())
	switch {
	case p.Claim == nil || p.Deleting():
		return out
	case pool == nil:
		return append(out, Hold{Code: reason.Policy})
	case pool.Replicas != nil:
		return append(out, Hold{Code: reason.Static})
	case pool.Disruption.EmptyAfter == nil:
		out = append(out, Hold{Code: reason.Policy})
	default:
		if at := LastPodChange(p.Claim) + *pool.Disruption.EmptyAfter; at > b.world.At() && p.Claim.Initialized {
			out = append(out, Hold{Code: reason.TooSoon, Until: at})
		}
	}
	if p.Claim.Initialized && b.Room(pool, plan.Empty).Left() == 0 {
		out = append(out, Hold{Code: reason.Budget})
	}
	for _, pod := range p.Pods {
		if Stays(pod) {
			out = append(out, Hold{Code: reason.InUse, Pod: pod})
		}
	}
	return out
}

// Any returns what keeps a machine from being given back by choice now,
// whatever its pool wants and whatever runs there otherwise.
func (b *Book) Any(p *world.Place) []Hold { return slices.Collect(b.holds(p)) }

// First is the first of Any; false if nothing keeps the machine.
func (b *Book) First(p *world.Place) (Hold, bool) {
	for h := range b.holds(p) {
		return h, true
	}
	return Hold{}, false
}

// holds yields what keeps a machine whatever its pool wants.
func (b *Book) holds(p *world.Place) iter.Seq[Hold] {
	return func(yield func(Hold) bool) {
		switch {
		case p.Claim == nil:
			yield(Hold{Code: reason.Foreign})
			return
		case p.Deleting(), b.going[p.Name()]:
			yield(Hold{Code: reason.Deleting})
			return
		case p.Node == nil, !p.Claim.Initialized:
			if !yield(Hold{Code: reason.Starting}) {
				return
			}
		}
		if p.Node != nil && p.Node.DoNotDisrupt && !yield(Hold{Code: reason.DoNotDisrupt}) {
			return
		}
		if pod := b.promised[p.Name()]; p.Node != nil && pod != nil && !yield(Hold{Code: reason.Promised, Pod: pod}) {
			return
		}
		if b.planned[p.Name()] || b.planned[p.Claim.Name] {
			if !yield(Hold{Code: reason.Promised}) {
				return
			}
		}
		for _, pod := range p.Pods {
			if h, held := Keeps(b.world, pod); held && !yield(h) {
				return
			}
		}
	}
}

// Keeps reports whether a pod on a machine may not be evicted now, and why. One that is done is on none.
func Keeps(w *world.World, p *world.Pod) (Hold, bool) {
	if p.Terminating || p.Virtual { // nothing is evicted that does not exist
		return Hold{}, false
	}
	if p.Forbids(w.At()) {
		until, _ := p.ForbidsUntil()
		return Hold{Code: reason.DoNotDisrupt, Pod: p, Until: until}, true
	}
	if p.Static || p.DaemonSet != "" {
		return Hold{}, false
	}
	if p.Disruption.Alone {
		return Hold{Code: reason.Alone, Pod: p}, true
	}
	guards := w.GuardsOf(p)
	tight := func(g *world.Guard) bool { return g.Allowed < 1 }
	if len(guards) > 1 || slices.ContainsFunc(guards, tight) { // the API server evicts no pod that two budgets guard
		return Hold{Code: reason.Guarded, Pod: p, Guards: guards}, true
	}
	return Hold{}, false
}

// Why is a hold as a reason why a machine is kept.
func (b *Book) Why(p *world.Place, h Hold) *reason.Why {
	why := &reason.Why{Code: h.Code, Subject: p.Name()}
	if h.Pod != nil {
		why.Subject = h.Pod.String()
	}
	why.Detail, why.Hint = b.Words(p, h)
	return why
}

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
		return "it is not initialized yet", ""
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
		if p.Pool() == (world.PoolID{}) {
			return "it was made without a pool, and nodes are given back only as their pools say", "delete its NodeClaim if it is not needed"
		}
		if pool == nil {
			return "its pool is gone, so nothing says when it may be given back", ""
		}
		return fmt.Sprintf("%s %s gives no empty node back: %s", pool.ID.Kind, pool.ID.Name, Nothing(pool)), somethingHint(pool)
	case reason.Static:
		return fmt.Sprintf("%s %s is static and keeps %s", pool.ID.Kind, pool.ID.Name, amount.Count(*pool.Replicas, "node")), "lower its replicas"
	case reason.TooSoon:
		return "its pool waits until no pod has come or gone for " + Span(*pool.Disruption.EmptyAfter), ""
	case reason.Budget:
		r := b.Room(pool, plan.Empty)
		return fmt.Sprintf("its pool's budgets allow %d of %s to be disrupted at once (already disrupting or not ready: %d)", r.Allowed, amount.Count(r.Machines, "node"), r.Going), BudgetHint
	case reason.InUse:
		return Used + OnlyEmpty, ""
	}
	return string(h.Code), ""
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
