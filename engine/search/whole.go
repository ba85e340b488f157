package search

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/solve"
)

// whole is pods on new machines that have to share one, in every plan: one item of the bound.
type whole struct {
	first  *packing.Class
	pods   int
	placed int // of the group, wherever they are
	need   []int64
	offers market.Set
}

// wholes are the pods on new machines that have to share one, by their classes. Where some of a group are elsewhere, or a machine that
// is sold for all of them holds less than they need, nothing is said of them.
func (k proving) wholes(on onNew, offers func(*packing.Class) market.Set) map[*packing.Class]*whole {
	groups, of := map[int32]*whole{}, map[*packing.Class]int32{}
	for _, c := range k.Classes {
		g, placed, ok := k.Advice.OnOneMachine(c.PodInfo)
		if !ok || on.placed[c] == 0 {
			continue
		}
		if groups[g] == nil {
			groups[g] = &whole{first: c, placed: placed, need: make([]int64, len(c.Need)), offers: slices.Clone(offers(c))}
		}
		of[c] = g
		x := groups[g]
		x.pods += on.placed[c]
		x.offers.Intersect(offers(c))
		for d, n := range c.Need {
			for range on.placed[c] {
				x.need[d] = amount.Plus(x.need[d], n)
			}
		}
	}
	out := map[*packing.Class]*whole{}
	for _, g := range sortedKeys(groups, cmp.Compare[int32]) {
		if x := groups[g]; x.pods == x.placed {
			k.Market.KeepFitting(x.offers, x.need)
		} else {
			x.offers = market.NewSet(len(k.Market.Offers))
		}
	}
	for c, g := range of {
		if x := groups[g]; HostsAmong(x.offers, k.Proof.Hosts) != nil {
			out[c] = x
		}
	}
	return out
}

// item is the whole in the bound.
func (x *whole) item(hosts []int) solve.Item {
	return solve.Item{Name: x.first.Pod.String() + " and all that go with it", Need: x.need, Count: 1, Hosts: HostsAmong(x.offers, hosts)}
}
