package disrupt

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// markSettleMillis is for how many milliseconds a node is marked before its claim ends:
// pods that were bound before the mark was seen show up in this time.
const markSettleMillis = 2000

// idle has machines go that are empty or too old and need no others to be
// bought, and takes back marks that nothing accounts for.
func (d *decision) idle() bool {
	found := deletionsIn(d.ending, d.planned, d.options)
	d.later(found.again)
	d.plan.Kept = append(d.plan.Kept, found.kept...)
	back := map[string]bool{}
	for _, g := range found.back {
		back[g.Node] = true
		d.command(d.leave(g))
	}
	for _, p := range d.world.Places() {
		if p.Claim != nil && !p.Deleting() && begun.Marked(p) && !begun.Intended(p) && !back[p.Node.Name] {
			d.command(plan.Command{Verdict: plan.TakeBack, Begun: true, Back: []plan.Give{plan.GiveOf(d.world, p, "")}})
		}
	}
	return true
}

// leave is the command of one machine that goes as it is. One that is too old
// goes at once; one that is empty is marked, and has to be empty still once the
// mark is known everywhere.
func (d *decision) leave(g plan.Give) plan.Command {
	c := plan.Command{Reason: g.Reason, Verdict: plan.CarryOn, Back: []plan.Give{g}}
	if g.Reason == plan.Expired {
		return c
	}
	switch known := d.options.Marked[g.Node]; {
	case !begun.Marked(d.world.Place(g.Node)):
		c.Verdict = plan.Begin
	case known >= markSettleMillis:
		c.Begun = true
	default: // marked before we began, or just seen
		c.Verdict, c.Begun, c.Again = plan.Wait, true, markSettleMillis-known
	}
	return c
}

// deletionsIn returns the machines that go as they are, by claim, and which empty ones stay.
func deletionsIn(w *world.World, planned []string, o Options) *deletions {
	d := &deletions{world: w, book: hold.Open(w, planned), buyFirst: !o.Stay && !o.AsIs, unbudgeted: o.Consolidate.Unbudgeted}
	d.expiration()
	d.emptiness()
	slices.SortFunc(d.back, func(a, b plan.Give) int { return strings.Compare(a.Claim, b.Claim) })
	return d
}
