package disrupt

import (
	"fmt"
	"iter"
	"slices"
	"strings"

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

// The words for a pod that nobody would make anew, and what would end that it keeps its machine.
const (
	Alone     = "nobody would make the pod anew: it has no controller"
	AloneHint = `have a Deployment or another controller run it, delete it, or annotate it karpenter.sh/do-not-disrupt: "false"`
)

// Guarding puts into words how pod disruption budgets keep the pod, and what would end that.
func (h Hold) Guarding() (detail, hint string) {
	if len(h.Guards) == 1 {
		return fmt.Sprintf("PodDisruptionBudget %s allows no eviction now", h.Guards[0]), "run more replicas than it needs, or wait until all are healthy"
	}
	names := make([]string, len(h.Guards))
	for i, g := range h.Guards {
		names[i] = g.String()
	}
	return "PodDisruptionBudgets " + strings.Join(names, " and ") + " both guard it, and the API server evicts no such pod", "have only one of them select the pod"
}

// Holds returns everything that keeps a machine from being given back by
// choice now. Nothing keeps one that has reached its age.
func Holds(w *world.World, p *world.Place, o Options) []Hold {
	d := newDecision(w, o, &plan.Plan{})
	out := slices.Collect(d.holds(p))
	pool := w.Pool(p.Pool())
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
		if at := Quiet(p.Claim) + *pool.Disruption.EmptyAfter; at > w.At() && p.Claim.Initialized {
			out = append(out, Hold{Code: reason.TooSoon, Until: at})
		}
	}
	if p.Claim.Initialized && d.room(pool, Empty).Left() == 0 {
		out = append(out, Hold{Code: reason.Budget})
	}
	for _, pod := range p.Pods {
		if Stays(pod) {
			out = append(out, Hold{Code: reason.InUse, Pod: pod})
		}
	}
	return out
}

// Bars returns what keeps each machine from being given back by choice now,
// whatever its pool wants and whatever runs there otherwise.
func Bars(w *world.World, o Options) func(*world.Place) []Hold {
	d := newDecision(w, o, &plan.Plan{})
	return func(p *world.Place) []Hold { return slices.Collect(d.holds(p)) }
}

// holds yields what keeps a machine whatever its pool wants.
func (d *decision) holds(p *world.Place) iter.Seq[Hold] {
	return func(yield func(Hold) bool) {
		switch {
		case p.Claim == nil:
			yield(Hold{Code: reason.Foreign})
			return
		case p.Deleting(), d.going[p.Name()]:
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
		if pod := d.promised[p.Name()]; p.Node != nil && pod != nil && !yield(Hold{Code: reason.Promised, Pod: pod}) {
			return
		}
		if d.planned[p.Name()] || d.planned[p.Claim.Name] {
			if !yield(Hold{Code: reason.Promised}) {
				return
			}
		}
		for _, pod := range p.Pods {
			if h, held := Keeps(d.world, pod); held && !yield(h) {
				return
			}
		}
	}
}

// Keeps reports whether a pod may not be evicted now, and why.
func Keeps(w *world.World, p *world.Pod) (Hold, bool) {
	if p.Terminating {
		return Hold{}, false
	}
	if p.Disruption.Forbidden {
		return Hold{Code: reason.DoNotDisrupt, Pod: p}, true
	}
	if span := p.Disruption.ForbiddenFor; span > 0 {
		if p.Started == 0 {
			return Hold{Code: reason.DoNotDisrupt, Pod: p}, true
		}
		if end := p.Started + span; end > w.At() {
			return Hold{Code: reason.DoNotDisrupt, Pod: p, Until: end}, true
		}
	}
	if p.Static || p.DaemonSet != "" {
		return Hold{}, false
	}
	if p.Disruption.Alone && !p.Done {
		return Hold{Code: reason.Alone, Pod: p}, true
	}
	guards := GuardsOf(w, p)
	tight := func(g *world.Guard) bool { return g.Allowed < 1 }
	if len(guards) > 1 || slices.ContainsFunc(guards, tight) { // the API server evicts no pod that two budgets guard
		return Hold{Code: reason.Guarded, Pod: p, Guards: guards}, true
	}
	return Hold{}, false
}

// GuardsOf returns the pod disruption budgets that count for a pod.
func GuardsOf(w *world.World, p *world.Pod) []*world.Guard { return w.GuardsOf(p) }

// movable reports whether a machine may be given back by choice at all, and
// notes when what keeps it ends.
func (d *decision) movable(p *world.Place) bool {
	for h := range d.holds(p) {
		d.later(h.Until)
		return false
	}
	return true
}
