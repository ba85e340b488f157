package disrupt

import (
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt/after"
	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/menu"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Replaceable reports whether static pools are such that machines of them can be replaced by those of a command
// which was decided about an earlier World: meanwhile the pools may have asked for machines themselves, which
// take of the same limit, or are to have fewer.
func Replaceable(w *world.World, c plan.Command) bool {
	replicas := begun.In(w).Replicas(w)
	shop := menu.NewStatic(w, packing.Options{})
	for _, a := range c.New {
		pool := w.Pool(a.Pool)
		if pool == nil || pool.Replicas == nil {
			continue
		}
		r := replicas[pool.ID]
		if _, why := shop.Ask(pool, nil); why != nil || r.Missing(pool)+r.Surplus(pool) > 0 {
			return false
		}
	}
	return true
}

// static has machines of static pools replaced that have drifted: another one of the pool is bought for each
// first, and what its pods need besides. It reports whether any can begin to be.
func (d *decision) static() bool {
	w := leaving(d.ending, d.planned)
	byPool := map[world.PoolID][]*world.Place{}
	for _, p := range drifted(w, d.options.Skip, true) {
		byPool[p.Pool()] = append(byPool[p.Pool()], p)
	}
	if len(byPool) == 0 {
		return false
	}
	s := renewal{decision: d, world: w, book: hold.Open(w, d.planned), shop: menu.NewStatic(w, d.options.Pack), left: maxStaticReplacements}
	replicas := d.begun.Replicas(d.world)
	for _, pool := range w.Pools() {
		// A pool first gets what it misses, and gives back what is more than it is to have: what goes then need not be replaced.
		if r := replicas[pool.ID]; len(byPool[pool.ID]) > 0 && r.Missing(pool)+r.Surplus(pool) == 0 {
			s.pool(pool, byPool[pool.ID])
		}
	}
	return s.begins
}

// maxStaticReplacements is how many machines of static pools one decision tries to replace at most.
const maxStaticReplacements = 10

// renewal is the replacing of machines of static pools.
type renewal struct {
	*decision

	world  *world.World // with what was found to be replaced before: it is ending, and what is bought instead is there
	book   *hold.Book
	shop   *menu.Static
	left   int // machines that may still be tried
	begins bool
}

// pool replaces machines of one pool, as many as its budgets and limits allow.
func (s *renewal) pool(pool *world.Pool, drifted []*world.Place) {
	room := s.book.Room(pool, plan.Drifted).Left()
	for _, p := range drifted {
		why, _ := forbidden(s.book, p, plan.Drifted)
		if why == nil && room <= 0 {
			why = &reason.Why{Code: reason.Budget, Subject: pool.ID.Name, Detail: noFurther}
		}
		if why == nil {
			if s.left--; s.left < 0 {
				return
			}
			why = s.renew(pool, p)
		}
		if why != nil {
			s.stays(p, plan.Drifted, why)
			continue
		}
		room--
	}
}

// renew has one machine replaced, or says why it cannot be.
func (s *renewal) renew(pool *world.Pool, p *world.Place) *reason.Why {
	ask, why := s.shop.Ask(pool, movable(s.world, p))
	switch {
	case why != nil && why.Code == reason.Limit:
		return &reason.Why{
			Code: reason.Limit, Subject: why.Subject, Detail: "limits.nodes leaves no room for the node that is bought instead before it ends",
			Hint: "raise limits.nodes above spec.replicas, or delete the NodeClaim: the pool then replaces it, and its pods wait meanwhile",
		}
	case why != nil:
		return &reason.Why{Code: reason.NoPlace, Subject: p.Name(), Detail: "nothing can be bought instead", Causes: []*reason.Why{why}}
	}
	there := after.Ask(s.world, ask)
	more, why := instead(there, there.Place(p.Name()), s.options.Pack)
	if why != nil {
		return why
	}
	c := replacement(s.decision.world, p, plan.Drifted, append([]plan.Ask{ask}, more.Bought...))
	if why := s.awaits(c); why != nil {
		return why
	}
	s.world = begun.Ending(there, there.Place(p.Name()))
	s.propose(c)
	s.begins = s.begins || s.plan.Commands[len(s.plan.Commands)-1].Verdict == plan.Begin
	return nil
}

// movable is what the pods of a machine ask for that leave it when it ends.
func movable(w *world.World, p *world.Place) amount.List {
	var out amount.List
	for _, pod := range p.Pods {
		if packing.Leaves(w, pod) {
			out = out.Plus(pod.Requests)
		}
	}
	return out
}
