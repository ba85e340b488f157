package disrupt

import (
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// idler finds machines of a World that go as they are.
type idler struct {
	world      *world.World
	book       *hold.Book
	buyFirst   bool // what is too old is replaced first, while that may come about
	unbudgeted bool // no disruption budget holds up what is empty
	back       []plan.Give
	kept       []plan.Kept
	again      int64
}

func (i *idler) give(p *world.Place, why string) {
	i.book.Give(p)
	i.back = append(i.back, plan.GiveOf(i.world, p, why))
}

func (i *idler) keep(p *world.Place, h hold.Hold) {
	g := plan.GiveOf(i.world, p, plan.Empty)
	i.kept = append(i.kept, plan.Kept{Claim: g.Claim, Node: g.Node, Pool: g.Pool, Reason: g.Reason, Price: g.Price, Why: i.book.Why(p, h)})
}

func (i *idler) later(at int64) {
	if at > i.world.At() && (i.again == 0 || at < i.again) {
		i.again = at
	}
}
