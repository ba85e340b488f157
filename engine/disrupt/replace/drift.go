package replace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// tries is how many machines one decision tries to replace at most, of those that are too old and of those that have drifted.
const tries = 10

// Kept is a machine that is to be replaced and stays for now.
type Kept struct {
	Place *world.Place
	Why   *reason.Why
}

// given is the one machine that a plan gives back.
func given(w *world.World, p *world.Place, why string) []plan.Give {
	return []plan.Give{{Claim: p.Claim.Name, Node: p.Node.Name, Pool: p.Pool(), Reason: why, Price: plan.PriceOf(w, p)}}
}

// leaving is the World in which what is empty or too old is ending: it takes of
// the budgets, and nothing is to count on it.
func leaving(w *world.World, o Options) *world.World {
	var back []*world.Place
	for _, g := range disrupt.Decide(w, disrupt.Options{Planned: o.Planned}).Back {
		name := g.Node
		if name == "" {
			name = g.Claim
		}
		if p := w.Place(name); p != nil && p.Claim != nil {
			back = append(back, p)
		}
	}
	if len(back) == 0 {
		return w
	}
	return disrupt.Ending(w, back...)
}

// Eligible is how many drifted machines are to be replaced, now or later.
func Eligible(w *world.World) int { return len(drifted(w, Options{})) }

// drifted are the machines that may be replaced, in the order in which that is tried.
func drifted(w *world.World, o Options) []*world.Place {
	var out []*world.Place
	for _, p := range w.Places() {
		if p.Node == nil || p.Claim == nil || p.Claim.Drifted == "" || !p.Claim.Initialized || p.Deleting() || slices.Contains(o.Skip, p.Claim.Name) {
			continue
		}
		if pool := w.Pool(p.Pool()); pool != nil && pool.ID.Kind == world.NodePool && pool.Replicas == nil { // Provisioners know of no drift
			out = append(out, p)
		}
	}
	moving := func(p *world.Place) int {
		if slices.ContainsFunc(p.Pods, (*world.Pod).Moves) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b *world.Place) int {
		return cmp.Or(cmp.Compare(moving(a), moving(b)), cmp.Compare(a.Claim.Created, b.Claim.Created), strings.Compare(a.Name(), b.Name()))
	})
	return out
}

// instead is what is to be bought for the pods of a machine, or why it cannot be.
func instead(w *world.World, p *world.Place, o Options) ([]plan.Ask, *reason.Why) {
	mine := map[world.Key]bool{}
	for _, pod := range p.Pods {
		if packing.Leaves(w, pod) {
			mine[pod.Key] = true
		}
	}
	if len(mine) == 0 {
		return nil, nil
	}
	made := pack.Pack(closed(disrupt.Ending(w, p), p), o.Pack)
	for _, r := range made.Refused {
		if mine[r.Pod] {
			return nil, &reason.Why{Code: reason.NoPlace, Subject: r.Pod.String(), Detail: "the pod would find no place", Causes: []*reason.Why{r.Why}}
		}
	}
	var out []plan.Ask
	for _, a := range made.New {
		if slices.ContainsFunc(a.Pods, func(k world.Key) bool { return mine[k] }) {
			out = append(out, a)
		}
	}
	where := places(made)
	for _, m := range w.Places() {
		if !m.Deleting() {
			continue
		}
		for _, pod := range m.Pods {
			if packing.Leaves(w, pod) && where[pod.Key] == "" {
				return nil, &reason.Why{Code: reason.AfterOthers, Subject: pod.String(), Detail: "the pod is to leave its node before, and would have no place then"}
			}
		}
	}
	return out, nil
}

// closed has nothing more go to machines that have drifted or are too old: it would soon have to move again.
func closed(w *world.World, but *world.Place) *world.World {
	e := w.Edit()
	for _, p := range w.Places() {
		if p.Node == nil || p.Claim == nil || p.Claim.Drifted == "" && !disrupt.TooOld(w, p) || p.Name() == but.Name() {
			continue
		}
		n := *p.Node
		n.Cordoned = true
		if err := e.SetNode(n); err != nil {
			panic("a node of a World is refused: " + err.Error()) // it was taken before
		}
	}
	return e.Snapshot(w.At())
}
