package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
)

// varied reports whether the pool's minValues can be kept by a machine of the
// offer with the pod added to the bin, or on a machine of its own if the bin is
// nil. Under BestEffort they always can.
func (k *Packer) varied(offer int, b *bin, x *waiting) bool {
	return !k.market.Offers[offer].Type.Pool.HasMinValues || k.market.Options.LowerMinValues || len(k.lacks(offer, b, x)) == 0
}

// lacks are the requirements whose minValues such a machine would not keep.
func (k *Packer) lacks(offer int, b *bin, x *waiting) []label.Requirement {
	p := k.market.Offers[offer].Type.Pool
	hosts := k.hosts(p, b, x)
	k.market.KeepAlike(hosts, offer, x != nil && x.class.pinned)
	hosts, _, _ = k.market.OnOneMenu(hosts, offer)
	return k.market.Lacking(p, hosts)
}

// hosts are the offers of the pool that would host the pod and what is on the bin.
func (k *Packer) hosts(p *market.Pool, b *bin, x *waiting) market.Set {
	allowed := slices.Clone(p.Offers)
	used := make([]int64, len(k.market.Dims))
	if b != nil {
		copy(allowed, b.allowed)
		copy(used, b.used)
	}
	need := make([]int64, len(k.market.Dims))
	if x != nil {
		allowed.Intersect(x.class.offers)
		need = x.class.need
	}
	for _, t := range p.Types {
		if market.FitsBoth(need, used, t.Room) {
			continue
		}
		for i := t.First; i < t.Last; i++ {
			allowed.Drop(i)
		}
	}
	return allowed
}
