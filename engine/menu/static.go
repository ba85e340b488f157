package menu

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Static writes machines that static pools ask for, whatever pods there are. What
// was asked for before counts against limits and reservations.
type Static struct{ writer *Writer }

// NewStatic knows what the static pools of a World may buy.
func NewStatic(w *world.World, o packing.Options) *Static {
	k := packing.New(w, o)
	readyStatic(k)
	return &Static{&Writer{Packing: k}}
}

// Ask returns one more machine of a pool, or says why there can be none. It is one
// with room for as much as that, if the pool can have such, beside what its DaemonSets ask for.
func (s *Static) Ask(pool *world.Pool, room amount.List) (plan.Ask, *reason.Why) {
	k := s.writer.Packing
	refused := func(code reason.Code, detail, hint string) (plan.Ask, *reason.Why) {
		return plan.Ask{}, &reason.Why{Code: code, Subject: named(pool), Detail: detail, Hint: hint}
	}
	i := slices.IndexFunc(k.Market.Pools, func(p *market.Pool) bool { return p.ID == pool.ID })
	switch b := k.Backoffs.Of(world.Key{}, pool); {
	case pool.NotReady != "":
		return refused(reason.NotReady, pool.NotReady, "")
	case i < 0:
		return refused(reason.NotReady, "nothing is known of the machines it may buy: its class is not there, or not looked at yet", "")
	case b != nil:
		why := market.BackoffWhy(b, k.World.At())
		why.Subject = named(pool)
		return plan.Ask{}, why
	}
	p := k.Market.Pools[i]
	if left, limited := p.Left.Find(amount.Nodes); limited && left < amount.Unit {
		return refused(reason.Limit, "limits.nodes leaves no room for a further node: those that are being deleted count until they are gone", "raise limits.nodes")
	}
	offers := buyable(k, p, room)
	if offers.Empty() {
		return refused(reason.NoOffer, "no type that its requirements allow is sold now", "allow more types, zones or capacity types")
	}
	return s.best(p, offers)
}

func named(p *world.Pool) string { return p.ID.Kind + " " + p.ID.Name }

// best asks for the cheapest of the offers that keeps the pool's minValues.
func (s *Static) best(p *market.Pool, offers market.Set) (plan.Ask, *reason.Why) {
	k := s.writer.Packing
	strict := p.HasMinValues && !k.Market.Options.LowerMinValues
	var lacking []label.Requirement
	if strict {
		if lacking = k.Market.Lacking(p, offers); len(lacking) > 0 {
			return plan.Ask{}, lacks(p.Pool, lacking[0])
		}
	}
	for _, offer := range slices.SortedFunc(offers.All, k.Market.CompareOffer) {
		b := k.Buy(offer)
		b.Allowed.Intersect(offers)
		if strict {
			if lacking = k.LackingValues(offer, b, nil); len(lacking) > 0 {
				k.Drop(b)
				continue
			}
		}
		a := s.writer.Ask(b)
		a.Requests = nil // no pod asks for it, and none of its DaemonSets narrows what it may become further
		return a, nil
	}
	return plan.Ask{}, lacks(p.Pool, lacking[0])
}

// lacks says that minValues cannot be kept.
func lacks(p *world.Pool, r label.Requirement) *reason.Why {
	return &reason.Why{
		Code: reason.MinValues, Subject: named(p), Detail: fmt.Sprintf("minValues of %s cannot be met by what is sold now: the types that one node may become have only %s", r.Key, amount.Count(r.Least, "value")),
		Hint: "lower minValues, or allow more types, zones or capacity types", About: reason.About{Key: r.Key},
	}
}

// readyStatic finds out what static pools may buy. It takes the place of Ready: no pod is placed, so that
// neither machines that are there nor classes of pods are looked at.
func readyStatic(k *packing.Packing) {
	k.Counters = market.NewCounters(k.World, nil, nil)
	k.Market = market.New(k.World, nil, market.Options{
		SpotPremium: k.Options.SpotPremium, LowerMinValues: k.Options.MinValuesPolicy == packing.BestEffort, Static: true,
	})
	k.Market.Exotics = k.Market.Exotic()
}

// buyable are the offers that a static pool may buy a machine of now: those with room for its DaemonSets and
// so much more; if there are none, those with room for its DaemonSets; if there are none either, all. Bare metal
// and accelerators are among them only where there is nothing else.
func buyable(k *packing.Packing, p *market.Pool, room amount.List) market.Set {
	roomy, bare, all := market.NewSet(len(k.Market.Offers)), market.NewSet(len(k.Market.Offers)), market.NewSet(len(k.Market.Offers))
	for _, t := range p.Types {
		_, short := t.Daemon.Plus(room).Short(t.Shape.Allocatable())
		for i := t.First; i < t.Last; i++ {
			if !k.Market.OnSale(i) {
				continue
			}
			all.Add(i)
			if !t.Full {
				bare.Add(i)
			}
			if !short {
				roomy.Add(i)
			}
		}
	}
	for _, s := range []market.Set{roomy, bare} {
		if !s.Empty() {
			return k.Market.KeepOrdinary(s, false)
		}
	}
	return k.Market.KeepOrdinary(all, false)
}
