package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/spread"
)

// crowd is pods that have to share one machine: all of a group that wants its
// own company there and has none yet. Whoever of them goes first decides for all,
// so they are placed as if they were one pod that needs what all of them need.
type crowd struct {
	pods   []*packing.Pod
	need   []int64
	offers market.Set    // that stand and have room for all
	simple spread.Simple // what their terms come to for machines that also others use
	hard   bool          // more than amounts and such terms decides where they may go
	capped bool          // they also mean to be few on one machine
}

// crowds gathers the crowds among the pods, and returns the others.
func (k *placer) crowds(pods []*packing.Pod) (crowds []*crowd, others []*packing.Pod) {
	byGroup := map[int32]*crowd{}
	for c, run := range packing.ByClass(pods) {
		group, s, ok := k.crowded(c)
		if !ok {
			others = append(others, run...)
			continue
		}
		if byGroup[group] == nil {
			byGroup[group] = &crowd{need: make([]int64, len(k.Market.Dims)), offers: slices.Clone(c.Offers)}
			crowds = append(crowds, byGroup[group])
		}
		k.swell(byGroup[group], c, s, run)
	}
	for _, x := range crowds {
		k.Market.KeepFitting(x.offers, x.need)
	}
	return crowds, others
}

// crowded returns the group whose pods have to share one machine, if the class is of one and it has no machine yet.
func (k *placer) crowded(c *packing.Class) (group int32, s spread.Simple, ok bool) {
	if !c.Colocated {
		return 0, s, false
	}
	s, ok = k.Ledger.Simple(c.Subject)
	if !ok || s.Home == nil || s.Home.Key != label.Hostname {
		return 0, s, false
	}
	return s.Home.Group, s, true
}

// swell adds pods of a class to the crowd.
func (k *placer) swell(x *crowd, c *packing.Class, s spread.Simple, pods []*packing.Pod) {
	x.pods = append(x.pods, pods...)
	for i, n := range c.Need {
		for range pods {
			x.need[i] = amount.Plus(x.need[i], n)
		}
	}
	x.offers.Intersect(c.Offers)
	x.capped = x.capped || s.PerHost > 0 || len(s.Shared) > 0
	x.hard = x.hard || x.capped || c.Demands.Open || !k.Tallies.Cover(c.Pod)
	x.simple.Owns, x.simple.Shunned = append(x.simple.Owns, s.Owns...), append(x.simple.Shunned, s.Shunned...)
	for _, r := range k.Reachable(c) {
		if !k.Ledger.Accepts(c.Subject, k.Market.At(r)) {
			k.Market.DropTuple(x.offers, k.Market.Offers[r].Tuple)
		}
	}
}

// pinned reports whether it matters to one of the pods in which domain they are.
func (x *crowd) pinned() bool {
	return slices.ContainsFunc(x.pods, func(y *packing.Pod) bool { return y.Class.Pinned })
}

// crowdLot returns the crowd as a lot of one piece; false if it has to be looked at by itself.
func (k *searcher) crowdLot(x *crowd) (*lot, bool) {
	quarrels := slices.ContainsFunc(x.simple.Owns, func(g int32) bool { return slices.Contains(x.simple.Shunned, g) })
	if x.hard || quarrels || x.offers.Empty() {
		return nil, false
	}
	c := x.pods[0].Class
	offers := k.Market.KeepOrdinary(slices.Clone(x.offers), x.pinned())
	return &lot{class: c, name: c.Pod.String(), pods: x.pods, need: x.need, whole: true, offers: offers, simple: x.simple, told: k.NeedsExotic}, true
}

// placeCrowds puts crowds, as far as they are found room, onto machines that are
// there or on their way, then planned ones if wanted, then new ones.
func (k *placer) placeCrowds(onNew bool) {
	crowds, others := k.crowds(k.Unplaced)
	for _, x := range crowds {
		switch {
		case k.seat(k.Existing, x):
		case onNew && (k.seat(k.Planned, x) || k.house(x)):
		case onNew && x.offers.Empty():
			others = append(others, k.part(x)...)
		default:
			others = append(others, x.pods...)
		}
	}
	k.Unplaced = others
}

// seat puts the crowd onto the first of the bins that takes all of it.
func (k *placer) seat(bins []*packing.Bin, x *crowd) bool {
	return slices.ContainsFunc(bins, func(b *packing.Bin) bool { return k.joinCrowd(b, x) })
}

// joinCrowd puts all of the crowd onto the bin, or nobody.
func (k *placer) joinCrowd(b *packing.Bin, x *crowd) bool {
	if !market.Fits(x.need, b.Free) {
		return false
	}
	for i, y := range x.pods {
		if !k.Accepts(b, y) {
			for _, z := range x.pods[:i] {
				k.Leave(z)
			}
			return false
		}
		k.Join(b, y)
	}
	for _, y := range x.pods {
		y.Crowded = y.Crowded || x.capped
	}
	return true
}

// house buys the cheapest machine that holds the crowd.
func (k *placer) house(x *crowd) bool {
	opens := k.Market.KeepOrdinary(slices.Clone(x.offers), x.pinned())
	for _, tier := range k.Market.Tiers {
		best := -1
		for _, p := range tier {
			for i := range p.Offers.All {
				if opens.Has(i) && (best < 0 || k.Market.CompareOffer(i, best) < 0) && k.Market.OnSale(i) && k.KeepsMinValues(i, nil, x.pods[0]) {
					best = i
				}
			}
		}
		if best < 0 {
			continue
		}
		b := k.Buy(best)
		if k.joinCrowd(b, x) {
			return true
		}
		k.Drop(b)
	}
	return false
}

// part places a crowd that no machine on sale can hold: as many as there is room
// for where that is most. It returns the others.
func (k *placer) part(x *crowd) []*packing.Pod {
	first := x.pods[0]
	there, most := 0, 0
	for _, b := range k.Existing {
		if k.Accepts(b, first) {
			there = max(there, held(x.pods, b.Free))
		}
	}
	best := -1
	for i := range first.Class.Buyable.All {
		n := held(x.pods, k.Market.Offers[i].Type.Room)
		if (n > most || n == most && k.Market.CompareOffer(i, best) < 0) && k.Market.OnSale(i) && k.KeepsMinValues(i, nil, first) {
			best, most = i, n
		}
	}
	if most <= there {
		return x.pods // one by one they find the machine that is there
	}
	b := k.Buy(best)
	for i, y := range x.pods {
		if !k.Accepts(b, y) {
			if i == 0 {
				k.Drop(b)
			}
			return x.pods[i:]
		}
		k.Join(b, y)
	}
	return nil
}

// held is how many of the pods fit into the room, one after the other.
func held(pods []*packing.Pod, room []int64) int {
	left := slices.Clone(room)
	for i, x := range pods {
		if !market.Fits(x.Class.Need, left) {
			return i
		}
		for d, n := range x.Class.Need {
			left[d] -= n
		}
	}
	return len(pods)
}
