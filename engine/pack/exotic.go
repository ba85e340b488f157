package pack

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
)

// spare finds out which exotic types are needed, and forgets the others.
func (k *Packer) spare() {
	m := k.market
	if m.Exotics = m.Exotic(); m.Exotics == nil {
		for _, c := range k.classes {
			c.opens = c.offers
		}
		return
	}
	needed := market.NewSet(len(m.Offers))
	for _, c := range k.classes {
		c.opens = k.market.KeepOrdinary(slices.Clone(c.offers), c.pinned)
		for i := range c.opens.All {
			if m.Exotics.Has(i) {
				needed.Add(i)
				c.needy = true
			}
		}
		k.needy = k.needy || c.needy
	}
	unneeded := slices.Clone(m.Exotics)
	unneeded.Subtract(needed)
	for _, c := range k.classes {
		c.offers.Subtract(unneeded)
		c.reach = nil
	}
	for _, p := range m.Pools {
		p.Offers.Subtract(unneeded)
	}
}

// searchNeedy buys what only exotic types can host, and puts onto these machines what else they have room for.
func (k *Packer) searchNeedy() {
	var needy, rest []*waiting
	for _, x := range k.left {
		if x.class.needy {
			needy = append(needy, x)
		} else {
			rest = append(rest, x)
		}
	}
	if len(needy) == 0 || len(rest) == 0 {
		return
	}
	k.left = needy
	k.search()
	k.loose = true
	needy = k.left
	k.left = nil
	for c, pods := range runs(rest) {
		if c.plain && !k.choosy(c) {
			pods = k.ride(c, pods)
		}
		k.left = append(k.left, pods...)
	}
	k.left = append(k.left, needy...)
	sortWaiting(k.left)
}

// ride puts as many of the pods as fit onto planned machines of exotic types, and returns the rest.
func (k *Packer) ride(c *class, pods []*waiting) []*waiting {
	for _, b := range k.new {
		if len(pods) == 0 {
			break
		}
		if !k.market.Exotics.Has(b.offer) || !k.accepts(b, pods[0]) {
			continue
		}
		n := min(market.Times(c.need, b.free), len(pods))
		k.joinAll(b, c, pods[:n])
		pods = pods[n:]
	}
	return pods
}

// dear is how many times as much as what is planned a type may cost to be worth a word.
const dear = 3

// leftOut says which exotic types would host the pods of the bin at a like price
// and are not asked for; empty if there are none.
func (k *Packer) leftOut(b *bin) string {
	if k.market.Exotics == nil || k.market.Exotics.Has(b.offer) {
		return ""
	}
	planned := &k.market.Offers[b.offer]
	var signatures []*demands
	for _, x := range b.pods {
		if !slices.Contains(signatures, x.class.sig) {
			signatures = append(signatures, x.class.sig)
		}
	}
	var cheapest *market.Type
	n := 0
	for _, t := range planned.Type.Pool.Exotic {
		if t.First != t.From || t.Cheapest > dear*planned.Expected || !market.Fits(b.used, t.Room) || slices.ContainsFunc(signatures, func(s *demands) bool { return !k.market.Stands(t, s.Signature) }) {
			continue
		}
		if n++; cheapest == nil || t.Cheapest < cheapest.Cheapest {
			cheapest = t
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return cheapest.Shape.Name + ": bare metal or with accelerators"
	}
	return fmt.Sprintf("%d types that are bare metal or have accelerators, such as %s", n, cheapest.Shape.Name)
}
