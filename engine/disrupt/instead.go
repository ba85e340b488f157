package disrupt

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/whatif"
	"github.com/tenon-sh/tenon/engine/world"
)

// replacement is the command by which a machine is replaced by others.
func replacement(w *world.World, p *world.Place, of string, asks []plan.Ask) plan.Command {
	c := plan.Command{Reason: of, Verdict: plan.Begin, Back: []plan.Give{plan.GiveOf(w, p, of)}, New: asks}
	for _, pod := range p.Pods {
		if pod.Moves() {
			c.Pods++
		}
	}
	return c
}

// stays says why a machine is not replaced.
func (d *decision) stays(p *world.Place, of string, why *reason.Why) {
	g := plan.GiveOf(d.world, p, of)
	d.plan.Kept = append(d.plan.Kept, plan.Kept{Claim: g.Claim, Node: g.Node, Pool: g.Pool, Reason: of, Price: g.Price, Why: why})
}

// instead is what becomes of the pods of a machine if it alone is replaced, or why it cannot be. Room that is held for
// pods to come keeps no machine: where it is not available beside the machine, as in a pool that is at its limit, it is
// bought again once the machine has gone.
func instead(w *world.World, p *world.Place, o pack.Options) (out whatif.Replacement, why *reason.Why) {
	going := []*world.Place{p}
	for _, m := range w.Places() {
		if begun.Overdue(w, m) { // it may never come: its room is not counted on
			going = append(going, m)
		}
	}
	made := pack.Pack(closed(begun.Ending(w, going...), p), o)
	where := places(made)
	mine := map[world.Key]bool{}
	for _, pod := range p.Pods {
		if !packing.Leaves(w, pod) {
			continue
		}
		mine[pod.Key] = true
		if to := w.Place(where[pod.Key]); to != nil {
			out.Moves = append(out.Moves, whatif.Move{Pod: pod, To: to})
		}
	}
	for _, r := range made.Refused {
		if mine[r.Pod] && !w.Pod(r.Pod).Virtual {
			return out, &reason.Why{Code: reason.NoPlace, Subject: r.Pod.String(), Detail: "the pod would find no place", Causes: []*reason.Why{r.Why}}
		}
	}
	for _, a := range made.New {
		if slices.ContainsFunc(a.Pods, func(k world.Key) bool { return mine[k] }) {
			out.Bought = append(out.Bought, a)
		}
	}
	for _, m := range w.Places() {
		if !m.Deleting() {
			continue
		}
		for _, pod := range m.Pods {
			if packing.Leaves(w, pod) && !pod.Virtual && where[pod.Key] == "" {
				return out, strandedWhy(pod)
			}
		}
	}
	return out, nil
}

// strandedWhy says that a pod of a machine that goes already would have no place.
func strandedWhy(p *world.Pod) *reason.Why {
	return &reason.Why{Code: reason.AfterOthers, Subject: p.String(), Detail: "the pod is being drained from its node already, and would have nowhere to go"}
}

// outdated reports whether a machine has drifted or is too old: what went there would soon have to move again.
func outdated(w *world.World, p *world.Place) bool {
	return p.Node != nil && p.Claim != nil && (p.Claim.Drifted != "" || TooOld(w, p))
}

// closed has nothing more go to machines that are outdated.
func closed(w *world.World, but *world.Place) *world.World {
	e := w.Edit()
	for _, p := range w.Places() {
		if !outdated(w, p) || p.Name() == but.Name() {
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

// places are where a plan has pods that are not bought for.
func places(p plan.Plan) map[world.Key]string {
	out := map[world.Key]string{}
	for _, fills := range [][]plan.Fill{p.Filled, p.Held} {
		for _, f := range fills {
			for _, k := range f.Pods {
				out[k] = cmp.Or(f.Node, f.Claim)
			}
		}
	}
	return out
}

// forbidden says what forbids that a machine goes now for that reason, and whether that passes by itself. What keeps
// single pods forbids no drift where the drain ends in any case: they stay until then.
func forbidden(b *hold.Book, p *world.Place, of string) (why *reason.Why, passing bool) {
	for _, h := range b.Any(p) {
		if of == plan.Drifted && p.Claim.DrainEnds && h.OfPod() {
			continue
		}
		why, passing = b.Why(p, h), h.Code == reason.Guarded || h.Code == reason.Promised
		if !passing {
			return why, false
		}
	}
	if why == nil {
		if not := hold.Unplannable(p); len(not) > 0 {
			return not[0], false
		}
	}
	return why, passing
}
