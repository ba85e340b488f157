package search

import (
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
)

// searchExotic buys what only exotic types can host, and puts onto these machines what else they have room for.
func (k *Searcher) searchExotic() {
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
	k.Search()
	k.Loose = true
	needy = k.Unplaced
	k.Unplaced = nil
	for c, pods := range packing.ByClass(rest) {
		if c.Plain && !k.HasWishes(c) {
			pods = k.fillExotic(c, pods)
		}
		k.Unplaced = append(k.Unplaced, pods...)
	}
	k.Unplaced = append(k.Unplaced, needy...)
	packing.SortPods(k.Unplaced)
}

// fillExotic puts as many of the pods as fit onto planned machines of exotic types, and returns the rest.
func (k *Searcher) fillExotic(c *packing.Class, pods []*packing.Pod) []*packing.Pod {
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
