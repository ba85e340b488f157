package packing

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
)

// KeepsMinValues reports whether the pool's minValues can be kept by a machine of the
// offer with the pod added to the bin, or on a machine of its own if the bin is
// nil. Under BestEffort they always can.
func (k *Packing) KeepsMinValues(offer int, b *Bin, x *Pod) bool {
	return !k.Market.Offers[offer].Type.Pool.HasMinValues || k.Market.Options.LowerMinValues || len(k.LackingValues(offer, b, x)) == 0
}

// LackingValues are the requirements whose minValues such a machine would not keep.
func (k *Packing) LackingValues(offer int, b *Bin, x *Pod) []label.Requirement {
	p := k.Market.Offers[offer].Type.Pool
	hosts := hostsOf(k, p, b, x)
	k.Market.KeepAlike(hosts, offer, x != nil && x.Class.Pinned)
	hosts, _, _ = k.Market.OnOneMenu(hosts, offer)
	return k.Market.Lacking(p, hosts)
}

// hostsOf are the offers of the pool that would host the pod and what is on the bin.
func hostsOf(k *Packing, p *market.Pool, b *Bin, x *Pod) market.Set {
	allowed := slices.Clone(p.Offers)
	need := make([]int64, len(k.Market.Dims))
	if b != nil {
		copy(allowed, b.Allowed)
		copy(need, b.Used)
	}
	if x != nil {
		allowed.Intersect(x.Class.Offers)
		for i, n := range x.Class.Need {
			need[i] = amount.Plus(need[i], n)
		}
	}
	for _, t := range p.Types {
		if market.Fits(need, t.Room) {
			continue
		}
		for i := t.First; i < t.Last; i++ {
			allowed.Drop(i)
		}
	}
	return allowed
}
