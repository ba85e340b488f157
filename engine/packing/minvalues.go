package packing

import (
	"bytes"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
)

// KeepsMinValues reports whether the pool's minValues can be kept by a machine of the
// offer with the pod added to the bin, or on a machine of its own if the bin is
// nil. Under BestEffort they always can.
func (k *Packing) KeepsMinValues(offer int, b *Bin, x *Pod) bool {
	return !k.wantsMenu(offer) || len(k.LackingValues(offer, b, x)) == 0
}

// wantsMenu reports whether a machine of the offer needs a menu that keeps its pool's minValues.
func (k *Packing) wantsMenu(offer int) bool {
	return k.Market.Offers[offer].Type.Pool.HasMinValues && !k.Market.Options.LowerMinValues
}

// alike are the offers in the same topology domains as this one, among which a machine with a pod of the class may be
// any. Those that differ in whether they count for groups of other pods are sets of their own: one answers for all of a
// set. Where minValues want a menu, only groups that concern the class keep offers off it.
func (k *Packing) alike(c *Class, offer int) market.Set {
	o := &k.Market.Offers[offer]
	sets := k.Market.DomainSets()
	if !k.wantsMenu(offer) {
		return sets[o.DomainSet]
	}
	if out, known := c.alike[o.DomainSet]; known {
		return out
	}
	cover := k.Advice.AppendCoverOf(nil, c.PodInfo, k.Market.At(offer))
	out := market.NewSet(len(k.Market.Offers))
	for _, set := range sets {
		for i := range set.All { // the first answers for all
			if k.Market.Offers[i].Domain == o.Domain && bytes.Equal(cover, k.Advice.AppendCoverOf(nil, c.PodInfo, k.Market.At(i))) {
				out.Union(set)
			}
			break
		}
	}
	if c.alike == nil {
		c.alike = map[int]market.Set{}
	}
	c.alike[o.DomainSet] = out
	return out
}

// LackingValues are the requirements whose minValues such a machine would not keep.
func (k *Packing) LackingValues(offer int, b *Bin, x *Pod) []label.Requirement {
	p := k.Market.Offers[offer].Type.Pool
	hosts := hostsOf(k, p, b, x)
	var among market.Set
	if x != nil && x.Class.Pinned {
		among = k.alike(x.Class, offer)
	}
	k.Market.KeepAlike(hosts, offer, among)
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
