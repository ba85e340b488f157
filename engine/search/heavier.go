package search

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
)

// heaviest leaves of the offers those by which pods of the class may be bought for in the order of pools: not in a lighter pool what
// a heavier one sells for them in the same topology domains. Wherever a pod may go to a new machine in some domains it may also go to
// another new machine there, so that no plan which takes heavier pools first has use for what is dropped.
//
// A heavier pool keeps nothing from lighter ones unless it is sure to sell: not by reservations, not under limits, which may be used
// up by others, nor under minValues. Nor does it for pods that have to be on one machine with others: what one of them would
// find in the heavier pool need not have room for all.
func (k proving) heaviest(c *packing.Class, offers market.Set) market.Set {
	if len(k.Market.Tiers) < 2 || c.Colocated {
		return offers
	}
	out := slices.Clone(offers)
	sold := map[int]bool{} // domains in which heavier pools sell for the pods
	for _, tier := range k.Market.Tiers {
		here := map[int]bool{}
		for _, p := range tier {
			if !p.In(out) {
				continue
			}
			surely := len(p.Limits) == 0 && !p.HasMinValues
			for i := range p.Offers.All {
				if !out.Has(i) {
					continue
				}
				d := k.domainsOf(c, i)
				if sold[d] {
					out.Drop(i)
				} else if surely && !here[d] {
					here[d] = c.Buyable.Has(i) && k.Market.Offers[i].Quota < 0 && fit.FillsBesideRoom(c.Pod, k.Market.At(i))
				}
			}
		}
		for d := range here {
			sold[d] = sold[d] || here[d]
		}
	}
	return out
}

// domainsOf is which topology domains a machine of the offer is in, if pods of the class care.
func (k proving) domainsOf(c *packing.Class, offer int) int {
	if c.PodInfo.Indifferent() {
		return 0
	}
	return k.Market.Offers[offer].DomainSet
}

// inOrder are the offers on which the bound reckons with pods of the class: those that the order of pools leaves, or all if some
// of its pods have been put beside others, onto machines of lighter pools that are there for these.
func (k proving) inOrder(c *packing.Class, on map[int]int) market.Set {
	out := k.heaviest(c, c.Offers)
	for offer := range on {
		if !out.Has(offer) {
			return c.Offers
		}
	}
	return out
}
