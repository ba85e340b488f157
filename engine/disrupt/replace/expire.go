package replace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// expire adds to the plan the machine that is too old and goes next, the one first that has waited
// longest, and returns those for which nothing is to be had now. Budgets, disruption budgets and
// annotations are not asked: it is to go in any case, and they are kept when it is drained.
func expire(w *world.World, o Options, out *plan.Plan) []Kept {
	var old []*world.Place
	for _, p := range w.Places() {
		if disrupt.TooOld(w, p) && !p.Deleting() && disrupt.Replaced(w, p) && !slices.Contains(o.Skip, p.Claim.Name) {
			old = append(old, p)
		}
	}
	due := func(p *world.Place) int64 { return p.Claim.Created + p.Claim.ExpireAfter }
	slices.SortStableFunc(old, func(a, b *world.Place) int {
		return cmp.Or(cmp.Compare(due(a), due(b)), strings.Compare(a.Name(), b.Name()))
	})
	var kept []Kept
	for _, p := range old[:min(len(old), tries)] {
		asks, why := instead(w, p, o)
		if why == nil {
			out.New, out.Back = asks, given(w, p, plan.Expired)
			break
		}
		kept = append(kept, Kept{p, why})
	}
	return kept
}
