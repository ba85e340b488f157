package pack

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
)

// searchNeedy buys what only exotic types can host, and puts onto these machines what else they have room for.
func (k *searcher) searchNeedy() {
	var needy, rest []*packing.Pod
	for _, x := range k.Unplaced {
		if x.Class.NeedsExotic {
			needy = append(needy, x)
		} else {
			rest = append(rest, x)
		}
	}
	if len(needy) == 0 || len(rest) == 0 {
		return
	}
	k.Unplaced = needy
	k.search()
	k.loose = true
	needy = k.Unplaced
	k.Unplaced = nil
	for c, pods := range packing.ByClass(rest) {
		if c.Plain && !k.HasWishes(c) {
			pods = k.ride(c, pods)
		}
		k.Unplaced = append(k.Unplaced, pods...)
	}
	k.Unplaced = append(k.Unplaced, needy...)
	packing.SortPods(k.Unplaced)
}

// ride puts as many of the pods as fit onto planned machines of exotic types, and returns the rest.
func (k *searcher) ride(c *packing.Class, pods []*packing.Pod) []*packing.Pod {
	for _, b := range k.Planned {
		if len(pods) == 0 {
			break
		}
		if !k.Market.Exotics.Has(b.Offer) || !k.Accepts(b, pods[0]) {
			continue
		}
		n := min(market.Times(c.Need, b.Free), len(pods))
		k.JoinAll(b, c, pods[:n])
		pods = pods[n:]
	}
	return pods
}

// dear is how many times as much as what is planned a type may cost to be worth a word.
const dear = 3

// leftOut says which exotic types would host the pods of the bin at a like price
// and are not asked for; empty if there are none.
func (k *menus) leftOut(b *packing.Bin) string {
	if k.Market.Exotics == nil || k.Market.Exotics.Has(b.Offer) {
		return ""
	}
	planned := &k.Market.Offers[b.Offer]
	var signatures []*packing.Demands
	for _, x := range b.Pods {
		if !slices.Contains(signatures, x.Class.Demands) {
			signatures = append(signatures, x.Class.Demands)
		}
	}
	var cheapest *market.Type
	n := 0
	for _, t := range planned.Type.Pool.Exotic {
		if t.First != t.From || t.Cheapest > dear*planned.Expected || !market.Fits(b.Used, t.Room) || slices.ContainsFunc(signatures, func(s *packing.Demands) bool { return !k.Market.Stands(t, s.Signature) }) {
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
