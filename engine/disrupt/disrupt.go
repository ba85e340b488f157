package disrupt

import (
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Options are what a caller may choose. The zero value works.
type Options struct {
	// Planned are machines, by the names of their places, that pods are on their way to.
	Planned []string `json:"planned,omitempty"`
	// BuyFirst: machines that are too old are replaced, by package replace, so that they go without a replacement only when none was to be had for Overstay.
	BuyFirst bool `json:"buyFirst,omitempty"`
}

// decision is one call of Decide.
type decision struct {
	world    *world.World
	plan     *plan.Plan
	book     *hold.Book
	buyFirst bool
}

func newDecision(w *world.World, o Options, p *plan.Plan) *decision {
	return &decision{world: w, plan: p, book: hold.Open(w, o.Planned), buyFirst: o.BuyFirst}
}

// give gives a machine back.
func (d *decision) give(p *world.Place, reason string) {
	d.book.Give(p)
	g := plan.Give{Claim: p.Claim.Name, Pool: p.Pool(), Reason: reason, Price: plan.PriceOf(d.world, p)}
	if p.Node != nil {
		g.Node = p.Node.Name
	}
	d.plan.Back = append(d.plan.Back, g)
}

// later notes that something may be due at a time that has not come yet.
func (d *decision) later(at int64) {
	if at > d.world.At() && (d.plan.Again == 0 || at < d.plan.Again) {
		d.plan.Again = at
	}
}
