package packing

import (
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/market"
)

// ReadyStatic finds out what static pools may buy. It takes the place of Ready: no pod is placed, so that
// neither machines that are there nor classes of pods are looked at.
func (k *Packing) ReadyStatic() {
	k.Counters = market.NewCounters(nil, nil, nil)
	k.Market = market.New(k.World, nil, market.Options{
		SpotPremium: k.Options.SpotPremium, LowerMinValues: k.Options.MinValuesPolicy == BestEffort, Static: true,
	})
	k.Market.Exotics = k.Market.Exotic()
}

// Buyable are the offers that a static pool may buy a machine of now: those with room for its DaemonSets and
// so much more; if there are none, those with room for its DaemonSets; if there are none either, all. Bare metal
// and accelerators are among them only where there is nothing else.
func (k *Packing) Buyable(p *market.Pool, room amount.List) market.Set {
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

// BuyOf is Buy for a machine that may become nothing but one of some offers.
func (k *Packing) BuyOf(offer int, of market.Set) *Bin {
	b := k.Buy(offer)
	b.Allowed.Intersect(of)
	return b
}
