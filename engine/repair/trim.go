package repair

import (
	"github.com/tenon-sh/tenon/engine/packing"
)

// Trim makes every planned machine as cheap as its pods let it be, and one of
// two where that is cheaper. It reports whether that changed any.
func (k *Repairer) Trim() bool {
	changed := false
	for _, b := range k.Planned {
		was := b.Offer
		k.trim(b)
		changed = changed || b.Offer != was
	}
	return k.gather() || changed
}

// trim makes the bin the cheapest machine that holds its pods.
func (k *Repairer) trim(b *packing.Bin) {
	best := b.Offer
	k.Market.Charge(b.Offer, -1)
	hosts := k.Hosting(b)
	hosts.Intersect(k.Market.InDomainSet(k.Market.Offers[b.Offer].DomainSet))
	for i := range hosts.All {
		if k.Market.CompareOffer(i, best) < 0 && k.Options.Regret(packing.RegretOf(k.Packing, b, i)-packing.RegretOf(k.Packing, b, best)) <= k.Market.Offers[best].Weighs-k.Market.Offers[i].Weighs && k.Market.OnSale(i) && k.KeepsMinValues(i, b, nil) {
			best = i
		}
	}
	k.Market.Charge(b.Offer, 1)
	if best != b.Offer {
		k.Turn(b, best)
	}
}
