package packing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Admit returns the pods that need a place; those that cannot be planned for get their verdict.
func Admit(w *world.World) (out []*world.Pod, refused []plan.Refusal) {
	refuse := func(p *world.Pod, why *reason.Why) {
		refused = append(refused, plan.Refusal{Pod: p.Key, UID: p.UID, Why: why})
	}
	currencies := w.Currencies()
	for _, p := range w.Waiting() {
		switch {
		case p.DaemonSet != "" || p.Static || p.Terminating || w.Ends(p):
		case p.Gated:
			refuse(p, &reason.Why{Code: reason.Gated, Detail: strings.Join(p.Gates, ", "), Hint: "the user or controller that set the pod's scheduling gates has to remove them"})
		case len(p.Problems) > 0:
			refuse(p, problems(p))
		case !p.Plannable() && !p.Claims:
			refuse(p, devices(p))
		case p.Claims:
			refuse(p, &reason.Why{Code: reason.Claims, Detail: "asks for devices by resource claim; no node is bought for such pods", Hint: "ask for the devices as an extended resource, such as nvidia.com/gpu: 1 in resources.limits, have nodes for the pod there, or have devices planned for (IGNORE_DRA_REQUESTS=false)"})
		case p.Nominated == "" && !p.Waiting:
		case len(currencies) > 1:
			refuse(p, &reason.Why{
				Code: reason.Invalid, Detail: fmt.Sprintf("prices are in %q, which cannot be compared", currencies), Hint: "give all catalogues one currency",
			})
		default:
			out = append(out, p)
		}
	}
	for _, m := range w.Places() {
		if m.Deleting() {
			for _, p := range m.Pods {
				if Leaves(w, p) {
					out = append(out, p)
				}
			}
		}
	}
	return out, refused
}

// devices says which of the pod's resource claims cannot be planned for.
func devices(p *world.Pod) *reason.Why {
	var whys []*reason.Why
	for i := range p.Devices {
		if x := &p.Devices[i].Problem; x.Code != "" {
			whys = append(whys, &reason.Why{Code: x.Code, Detail: x.Detail, Hint: x.Hint})
		}
	}
	if len(whys) == 1 {
		return whys[0]
	}
	return &reason.Why{Code: reason.Claims, Detail: "its resource claims cannot be planned for", Causes: whys}
}

func problems(p *world.Pod) *reason.Why {
	if len(p.Problems) == 1 {
		return &reason.Why{Code: reason.Invalid, Detail: p.Problems[0]}
	}
	why := &reason.Why{Code: reason.Invalid}
	for _, x := range p.Problems {
		why.Causes = append(why.Causes, &reason.Why{Code: reason.Invalid, Detail: x})
	}
	return why
}

// Leaves reports whether a pod of a machine that goes away is evicted some day, and then needs another place.
func Leaves(w *world.World, p *world.Pod) bool { return Moves(p) && !stuck(w, p) && !w.Ends(p) }

// stuck reports whether a pod of a machine that goes away cannot be evicted,
// however long one waits: it forbids that, or its budgets never allow it. A
// machine for it would stand empty. Once something has made it leave it waits like any other.
func stuck(w *world.World, p *world.Pod) bool {
	if p.Terminating {
		return false
	}
	guards := w.GuardsOf(p)
	return p.Forbids(w.At()) || len(guards) > 1 || slices.ContainsFunc(guards, func(g *world.Guard) bool { return g.Never })
}

// Moves reports whether a pod of a machine that goes away needs another place.
func Moves(p *world.Pod) bool {
	return p.Moves() && p.Plannable()
}
