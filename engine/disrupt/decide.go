package disrupt

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Decide returns the machines to give back now, and when to look again.
func Decide(w *world.World, o Options) plan.Plan {
	p := plan.Plan{World: w.Digest(), At: w.At()}
	d := newDecision(w, o, &p)
	d.expiration()
	d.emptiness()
	slices.SortFunc(p.Back, func(a, b plan.Give) int { return strings.Compare(a.Claim, b.Claim) })
	return p
}
