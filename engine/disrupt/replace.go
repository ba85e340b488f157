package disrupt

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// replace has machines replaced by what is to be bought for their pods: nothing if they have
// places elsewhere. What has drifted in static pools comes first: there a new machine is bought for each. Then what is too old, as it is
// to go in any case, unless that goes as it is; then what else has drifted. What keeps others from being replaced is reported.
func (d *decision) replace() bool {
	if d.options.Stay || d.options.Busy {
		return false
	}
	if !d.static() && (d.options.AsIs || !d.expired()) {
		d.drift()
	}
	return true
}

// expired has machines replaced that are too old, those first that have waited longest, and
// reports whether there are any. Those that were not replaced in time go as they are, and nothing is bought for
// them. Budgets, disruption budgets and annotations are not asked: they are to go in any case, and these are kept
// when they are drained.
func (d *decision) expired() bool {
	w := d.ending
	due := func(p *world.Place) int64 { return p.Claim.Created + p.Claim.ExpireAfter }
	var old []*world.Place
	for _, p := range w.Places() {
		if TooOld(w, p) && due(p)+Overstay > w.At() && !p.Deleting() && Replaced(w, p) && !slices.Contains(d.options.Skip, p.Claim.Name) {
			old = append(old, p)
		}
	}
	slices.SortStableFunc(old, func(a, b *world.Place) int {
		return cmp.Or(cmp.Compare(due(a), due(b)), strings.Compare(a.Name(), b.Name()))
	})
	r := replacer{decision: d, world: w, book: hold.Open(w, d.planned), of: plan.Expired, most: maxExpired}
	return r.replace(old)
}
