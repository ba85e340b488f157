// Package static keeps pools with replicas at their number of nodes, whatever pods there are.
package static

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Step is what is due for one pool.
type Step struct {
	New  []plan.Ask
	Back []string // claims
	Came bool     // all that was asked for has come up
	Held int      // machines that cannot be asked for now
	Why  string   // they cannot; empty while nothing is known yet of what the pool may buy
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
		return grow(w, pool, missing, all)
	case missing < 0:
		return Step{Back: dispensable(w, active, -missing)}
	default:
		return Step{Came: missing == 0 && !slices.ContainsFunc(active, func(p *world.Place) bool { return !p.Claim.Registered })}
	}
}

// grow asks for the machines that a pool misses, as far as it may and can have
// them now. all are those that it has, with those that are going.
func grow(w *world.World, pool *world.Pool, missing, all int) Step {
	if w.CatalogFor(pool.ID, pool.Template) == nil {
		return Step{Held: missing} // its class is being looked at
	}
	if b := w.PoolBackoff(pool); b != nil && b.Holds(w.At()) {
		return Step{Held: missing, Why: market.BackoffWhy(b, w.At()).Detail}
	}
	menu, booked := menu(w, pool)
	if len(menu) == 0 {
		return Step{Held: missing, Why: "nothing that its requirements allow is to be had now"}
	}
	room := missing
	step := Step{}
	if limit, ok := pool.Limits.Find(amount.Nodes); ok {
		room = min(max(int(limit/amount.Unit)-all, 0), missing)
	}
	if step.Held = missing - room; step.Held > 0 {
		step.Why = "its limit of nodes is reached: raise limits.nodes"
	}
	step.New = asks(pool, room, menu, booked)
	return step
}

// asks are n machines of nothing but what the pool says.
func asks(pool *world.Pool, n int, menu []plan.Choice, booked amount.List) []plan.Ask {
	names := make([]string, len(menu))
	for i, m := range menu {
		names[i] = m.Shape
	}
	out := make([]plan.Ask, n)
	for i := range out {
		out[i] = plan.Ask{
			Name: fmt.Sprintf("%s-%d", pool.ID.Name, i), Pool: pool.ID, Template: pool.Template, Shape: menu[0].Shape, Price: menu[0].Price,
			Menu: menu, Requirements: pool.Requirements.And(label.Is(label.InstanceType, names...)), Booked: booked,
			Labels: pool.Labels, Taints: pool.Taints, Startup: pool.StartupTaints,
		}
	}
	return out
}

// longest is how many types a menu names.
const longest = 60

// menu are the types that the pool allows and that are to be had now, the
// cheapest first, and the capacity of the cheapest.
func menu(w *world.World, pool *world.Pool) (menu []plan.Choice, booked amount.List) {
	catalog := w.CatalogFor(pool.ID, pool.Template)
	if catalog == nil {
		return nil, nil
	}
	anything := func(string) bool { return true } // a label that shapes do not speak of is the pool's to set
	capacity := map[string]amount.List{}
	for _, s := range catalog.Shapes {
		if !s.Labels.Compatible(pool.Requirements, anything) || !allows(pool.Requirements, label.InstanceType, s.Name) {
			continue
		}
		best := int64(-1)
		for _, o := range s.Offers {
			if !o.Gone && allows(pool.Requirements, label.Zone, o.Zone) && allows(pool.Requirements, label.CapacityType, o.CapacityType) && (best < 0 || o.Price < best) {
				best = o.Price
			}
		}
		if best >= 0 {
			menu = append(menu, plan.Choice{Shape: s.Name, Price: best})
			capacity[s.Name] = s.Capacity
		}
	}
	slices.SortFunc(menu, func(a, b plan.Choice) int {
		return cmp.Or(cmp.Compare(a.Price, b.Price), strings.Compare(a.Shape, b.Shape))
	})
	menu = menu[:min(len(menu), longest)]
	if len(menu) > 0 {
		booked = capacity[menu[0].Shape]
	}
	return menu, booked
}

func allows(s label.Set, key, value string) bool {
	r, ok := s.Find(key)
	return !ok || r.Has(value)
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
		case hold.IsEmpty(p):
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
	return slices.ContainsFunc(at.Pods, func(p *world.Pod) bool { return !p.Terminating && p.Forbids(w.At()) })
}

// Patience is how long a pool waits before it asks again for machines that did not come.
type Patience struct {
	Until time.Time
	Wait  time.Duration
}

// The waits between two tries.
const (
	firstWait = 5 * time.Second
	lastWait  = 5 * time.Minute
)

// Asked returns the patience after machines were asked for. Each time that
// those asked for before have not come up it grows.
func (p Patience) Asked(now time.Time) Patience {
	p.Wait = min(max(2*p.Wait, firstWait), lastWait)
	p.Until = now.Add(p.Wait)
	return p
}
