// Package static decides how many machines static pools have: those with replicas, which keep a number of
// machines whatever pods there are. It says which to buy and which to end.
//
// What a pool may buy is what it might buy for pods (package menu). Machines that have drifted are replaced by
// package disrupt; how the machines of a pool count meanwhile is said there, once for both.
package static

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/menu"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Options are what a caller may choose. The zero value works.
type Options = pack.Options

// Decide returns which machines static pools ask for and which of theirs end. What cannot be asked for is said
// with the reason.
func Decide(w *world.World, o Options) plan.Plan {
	d := decision{world: w, options: o, plan: plan.Plan{World: w.Digest(), At: w.At()}}
	if c := w.Currencies(); len(c) > 0 {
		d.plan.Currency = c[0]
	}
	pools := slices.DeleteFunc(slices.Clone(w.Pools()), func(p *world.Pool) bool { return p.Replicas == nil || p.Deleting })
	if len(pools) == 0 {
		return d.plan
	}
	replicas := begun.In(w).Replicas(w)
	for _, p := range pools {
		d.pool(p, replicas[p.ID])
	}
	slices.SortFunc(d.plan.Static, func(a, b plan.Static) int { return world.ComparePool(a.Pool, b.Pool) })
	slices.SortFunc(d.plan.New, func(a, b plan.Ask) int { return strings.Compare(a.Name, b.Name) })
	return d.plan
}

// decision is one call of Decide.
type decision struct {
	world   *world.World
	options Options
	shop    *menu.Static // nil: nothing was to be bought yet
	plan    plan.Plan
}

// pool brings one pool to its number, as far as that can be done now.
func (d *decision) pool(p *world.Pool, r begun.Replicas) {
	s := plan.Static{Pool: p.ID, Replicas: *p.Replicas, Here: len(r.Here), Replacing: len(r.Replacing)}
	for missing := r.Missing(p); missing > 0; missing-- {
		ask, why := d.market().Ask(p, nil)
		if why != nil {
			s.Missing, s.Why = missing, why
			if b := d.world.PoolBackoff(p); b != nil {
				d.later(b.Until())
			}
			break
		}
		s.New++
		d.plan.New = append(d.plan.New, ask)
		d.plan.Cost += ask.Price
	}
	if s.Back = r.Surplus(p); s.Back > 0 {
		for _, at := range byEffort(d.world, r.Staying())[:s.Back] {
			d.plan.Commands = append(d.plan.Commands, plan.Command{
				Reason: plan.ScaledDown, Verdict: plan.CarryOn, Back: []plan.Give{plan.GiveOf(d.world, at, plan.ScaledDown)},
			})
		}
	}
	d.plan.Static = append(d.plan.Static, s)
}

// market is what static pools may buy. What one asks for counts for the next: they may share reservations.
func (d *decision) market() *menu.Static {
	if d.shop == nil {
		d.shop = menu.NewStatic(d.world, d.options)
	}
	return d.shop
}

// later notes that something may be due at a time that has not come yet.
func (d *decision) later(at int64) {
	if at > d.world.At() && (d.plan.Again == 0 || at < d.plan.Again) {
		d.plan.Again = at
	}
}
