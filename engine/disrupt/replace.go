package disrupt

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// replace has the machine replaced that is next, by what is to be bought for its pods: nothing if they have
// places elsewhere. What has drifted in static pools comes first: there as many are replaced at once as budgets and
// limits allow, since each is bought anew. Then what is too old, as it is to go in any case; then what else has
// drifted, of that what runs nothing, then the oldest. What forbids others before it is told.
func (d *decision) replace() bool {
	if d.options.Stay || d.options.Busy {
		return false
	}
	if !d.static() && !d.expired() {
		d.drift()
	}
	return true
}

// expired has the machine replaced that is too old and goes next, the one first that has waited longest, and
// reports whether there is one. Budgets, disruption budgets and annotations are not asked: it is to go in any
// case, and they are kept when it is drained.
func (d *decision) expired() bool {
	w := d.ending
	var old []*world.Place
	for _, p := range w.Places() {
		if TooOld(w, p) && !p.Deleting() && Replaced(w, p) && !slices.Contains(d.options.Skip, p.Claim.Name) {
			old = append(old, p)
		}
	}
	due := func(p *world.Place) int64 { return p.Claim.Created + p.Claim.ExpireAfter }
	slices.SortStableFunc(old, func(a, b *world.Place) int {
		return cmp.Or(cmp.Compare(due(a), due(b)), strings.Compare(a.Name(), b.Name()))
	})
	return slices.ContainsFunc(old[:min(len(old), tries)], func(p *world.Place) bool { return d.replaced(w, p, plan.Expired) })
}
