package static

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/world"
)

// The kinds of machine, in the order in which they end.
const (
	unlaunched = iota // there is no machine yet
	empty
	used
	forbidden // a pod there forbids that it is moved
)

// effort is how much the end of a machine disturbs.
type effort struct {
	kind  int
	cost  int64 // of evicting its pods
	lasts int   // 0 if it has drifted: it would have to be replaced anyway
}

// byEffort orders machines by how much their end disturbs, the least first; of equals those that have drifted,
// then the oldest.
func byEffort(w *world.World, places []*world.Place) []*world.Place {
	of := make(map[*world.Place]effort, len(places))
	for _, p := range places {
		of[p] = effortOf(w, p)
	}
	out := slices.Clone(places)
	slices.SortStableFunc(out, func(a, b *world.Place) int {
		x, y := of[a], of[b]
		return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.cost, y.cost), cmp.Compare(x.lasts, y.lasts),
			cmp.Compare(a.Claim.Created, b.Claim.Created), strings.Compare(a.Name(), b.Name()))
	})
	return out
}

func effortOf(w *world.World, p *world.Place) effort {
	e := effort{kind: used, lasts: 1}
	switch {
	case p.Claim.ProviderID == "":
		e.kind = unlaunched
	case slices.ContainsFunc(p.Pods, func(x *world.Pod) bool { return !x.Terminating && x.Forbids(w.At()) }):
		e.kind = forbidden
	case hold.IsEmpty(p):
		e.kind = empty
	}
	if p.Claim.Drifted != "" {
		e.lasts = 0
	}
	if e.kind < used {
		return e
	}
	for _, pod := range p.Pods {
		if pod.Moves() {
			e.cost += hold.Cost(pod)
		}
	}
	e.cost = remaining(w, p.Claim, e.cost)
	return e
}

// lifetimeParts is into how many parts the life of a machine is divided: what is left of it is counted in these.
const lifetimeParts = 1000

// remaining is what evicting pods costs, the less the nearer their machine is to its age: they would soon have
// to move anyway.
func remaining(w *world.World, c *world.Claim, cost int64) int64 {
	if c.ExpireAfter <= 0 {
		return cost * lifetimeParts
	}
	left := min(max(c.Created+c.ExpireAfter-w.At(), 0), c.ExpireAfter)
	return cost * (left * lifetimeParts / c.ExpireAfter)
}
