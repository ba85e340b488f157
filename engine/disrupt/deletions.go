package disrupt

import (
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// deletions are the machines of a World that end and need no replacement, and the empty ones that stay.
type deletions struct {
	world      *world.World
	book       *hold.Book
	buyFirst   bool // what is too old is replaced first, while that may come about
	unbudgeted bool // no disruption budget holds up what is empty
	going      []*world.Place
	back       []plan.Give // the same, for a plan
	kept       []plan.Kept
	again      int64
}

func (d *deletions) give(p *world.Place, why string) {
	d.book.Give(p)
	d.going = append(d.going, p)
	d.back = append(d.back, plan.GiveOf(d.world, p, why))
}

func (d *deletions) keep(p *world.Place, h hold.Hold) {
	g := plan.GiveOf(d.world, p, plan.Empty)
	d.kept = append(d.kept, plan.Kept{Claim: g.Claim, Node: g.Node, Pool: g.Pool, Reason: g.Reason, Price: g.Price, Why: d.book.Why(p, h)})
}

func (d *deletions) later(at int64) {
	if at > d.world.At() && (d.again == 0 || at < d.again) {
		d.again = at
	}
}
