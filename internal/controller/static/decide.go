// Package static keeps pools with replicas at their number of nodes, whatever pods there are.
package static

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Step is what is due for one pool.
type Step struct {
	New  []plan.Ask
	Back []string // claims
	Held int      // machines that the pool's limit of nodes keeps from being asked for
}

// Next decides what is due for a static pool. Claims that are going count
// against its limit until they are gone, but not as its nodes.
func Next(w *world.World, pool *world.Pool) Step {
	if pool.Replicas == nil || pool.Deleting {
		return Step{}
	}
	var active []*world.Place
	all := 0
	for _, p := range w.Places() {
		if p.Claim == nil || p.Pool() != pool.ID {
			continue
		}
		all++
		if !p.Deleting() {
			active = append(active, p)
		}
	}
	switch missing := *pool.Replicas - len(active); {
	case missing > 0 && pool.NotReady == "":
		room := math.MaxInt
		if limit, ok := pool.Limits.Find(amount.Nodes); ok {
			room = max(int(limit/amount.Unit)-all, 0)
		}
		return Step{New: asks(pool, min(missing, room)), Held: max(missing-room, 0)}
	case missing < 0:
		return Step{Back: dispensable(w, active, -missing)}
	}
	return Step{}
}

// asks are n machines of nothing but what the pool says.
func asks(pool *world.Pool, n int) []plan.Ask {
	out := make([]plan.Ask, n)
	for i := range out {
		out[i] = plan.Ask{
			Name: fmt.Sprintf("%s-%d", pool.ID.Name, i), Pool: pool.ID, Template: pool.Template,
			Requirements: pool.Requirements, Labels: pool.Labels, Taints: pool.Taints, Startup: pool.StartupTaints,
		}
	}
	return out
}

// dispensable picks n machines whose end disturbs least: those that are not
// there yet, then empty ones, then those whose pods may all be moved, and among
// equals those with the least to move and the oldest.
func dispensable(w *world.World, active []*world.Place, n int) []string {
	rank := func(p *world.Place) int {
		switch {
		case p.Claim.ProviderID == "":
			return 0
		case protected(w, p):
			return 3
		case disrupt.IsEmpty(p):
			return 1
		}
		return 2
	}
	slices.SortFunc(active, func(a, b *world.Place) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(a.Pods), len(b.Pods)),
			cmp.Compare(a.Claim.Created, b.Claim.Created), strings.Compare(a.Claim.Name, b.Claim.Name))
	})
	var out []string
	for _, p := range active[:n] {
		out = append(out, p.Claim.Name)
	}
	return out
}

// protected reports whether a pod of a machine forbids that it is moved.
func protected(w *world.World, at *world.Place) bool {
	return slices.ContainsFunc(at.Pods, func(p *world.Pod) bool {
		d := p.Disruption
		return !p.Terminating && (d.Forbidden || d.ForbiddenFor > 0 && (p.Started == 0 || w.At() < p.Started+d.ForbiddenFor))
	})
}
