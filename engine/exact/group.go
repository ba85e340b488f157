package exact

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/spread/advice"
)

// Group is pods that have to share one machine: all of a group that wants its
// own company there and has none yet. The first of them that is placed decides for all,
// so they are placed as if they were one pod that needs what all of them need.
type Group struct {
	Pods   []*packing.Pod
	Need   []int64
	Offers market.Set    // that stand and have room for all
	Simple advice.Simple // what their terms come to for machines that also others use
	Hard   bool          // more than amounts and such terms decides where they may go
	capped bool          // they also mean to be few on one machine
}

// Groups gathers the groups among the pods, and returns the others.
func (k *Placer) Groups(pods []*packing.Pod) (groups []*Group, others []*packing.Pod) {
	byGroup := map[int32]*Group{}
	for c, run := range packing.ByClass(pods) {
		group, s, ok := k.GroupOf(c)
		if !ok {
			others = append(others, run...)
			continue
		}
		if byGroup[group] == nil {
			byGroup[group] = &Group{Need: make([]int64, len(k.Market.Dims)), Offers: slices.Clone(c.Offers)}
			groups = append(groups, byGroup[group])
		}
		k.grow(byGroup[group], c, s, run)
	}
	for _, x := range groups {
		k.Market.KeepFitting(x.Offers, x.Need)
	}
	return groups, others
}

// GroupOf returns the group whose pods have to share one machine, if the class is of one and it has no machine yet.
func (k *Placer) GroupOf(c *packing.Class) (group int32, s advice.Simple, ok bool) {
	if !c.Colocated {
		return 0, s, false
	}
	s, ok = k.Advice.Simple(c.PodInfo)
	if !ok || s.Home == nil || s.Home.Key != label.Hostname {
		return 0, s, false
	}
	return s.Home.Group, s, true
}

// grow adds pods of a class to the group.
func (k *Placer) grow(x *Group, c *packing.Class, s advice.Simple, pods []*packing.Pod) {
	x.Pods = append(x.Pods, pods...)
	for i, n := range c.Need {
		for range pods {
			x.Need[i] = amount.Plus(x.Need[i], n)
		}
	}
	x.Offers.Intersect(c.Offers)
	x.capped = x.capped || s.PerHost > 0 || len(s.Shared) > 0
	x.Hard = x.Hard || x.capped || len(s.Mixed)+len(s.MixedIn)+len(s.Among) > 0 || c.Demands.Open || !k.Counters.Cover(c.Pod)
	x.Hard = x.Hard || len(s.Counted) > 0 && x.Simple.CountedBy != "" && x.Simple.CountedBy != s.CountedBy
	x.Simple.Counted = append(x.Simple.Counted, s.Counted...)
	x.Simple.CountedBy = cmp.Or(x.Simple.CountedBy, s.CountedBy)
	x.Simple.Owns, x.Simple.Shunned = append(x.Simple.Owns, s.Owns...), append(x.Simple.Shunned, s.Shunned...)
	for _, r := range k.Reachable(c) {
		if !k.Ledger.Accepts(c.PodInfo, k.Market.At(r)) {
			k.Market.DropDomainSet(x.Offers, k.Market.Offers[r].DomainSet)
		}
	}
}

// Pinned reports whether it matters to one of the pods in which domain they are.
func (x *Group) Pinned() bool {
	return slices.ContainsFunc(x.Pods, func(y *packing.Pod) bool { return y.Class.Pinned })
}

// PlaceGroups puts groups, as far as they are found room, onto machines that are
// there or on their way, then planned ones if wanted, then new ones.
func (k *Placer) PlaceGroups(onNew bool) {
	groups, others := k.Groups(k.Unplaced)
	for _, x := range groups {
		switch {
		case k.PlaceOnOne(k.Existing, x):
		case onNew && (k.PlaceOnOne(k.Planned, x) || k.buyFor(x)):
		case onNew && x.Offers.Empty():
			others = append(others, k.placePart(x)...)
		default:
			others = append(others, x.Pods...)
		}
	}
	k.Unplaced = others
}

// PlaceOnOne puts the group onto the first of the bins that takes all of it.
func (k *Placer) PlaceOnOne(bins []*packing.Bin, x *Group) bool {
	return slices.ContainsFunc(bins, func(b *packing.Bin) bool { return k.joinGroup(b, x) })
}

// joinGroup puts all of the group onto the bin, or none.
func (k *Placer) joinGroup(b *packing.Bin, x *Group) bool {
	if !market.Fits(x.Need, b.Free) {
		return false
	}
	mark := k.Mark()
	for _, y := range x.Pods {
		if !k.Accepts(b, y) {
			k.Undo(mark)
			return false
		}
		k.Join(b, y)
	}
	k.Commit(mark)
	for _, y := range x.Pods {
		y.Crowded = y.Crowded || x.capped
	}
	return true
}

// buyFor buys the cheapest machine that holds the group.
func (k *Placer) buyFor(x *Group) bool {
	opens := k.Market.KeepOrdinary(slices.Clone(x.Offers), x.Pinned())
	for _, tier := range k.Market.Tiers {
		best := -1
		for _, p := range tier {
			for i := range p.Offers.All {
				if opens.Has(i) && (best < 0 || k.Market.CompareOffer(i, best) < 0) && k.Market.OnSale(i) && k.KeepsMinValues(i, nil, x.Pods[0]) {
					best = i
				}
			}
		}
		if best < 0 {
			continue
		}
		b := k.Buy(best)
		if k.joinGroup(b, x) {
			return true
		}
		k.Drop(b)
	}
	return false
}

// placePart places a group that no machine on sale can hold: as many as there is room
// for where that is most. It returns the others.
func (k *Placer) placePart(x *Group) []*packing.Pod {
	first := x.Pods[0]
	there, most := 0, 0
	for _, b := range k.Existing {
		if k.Accepts(b, first) {
			there = max(there, countFitting(x.Pods, b.Free))
		}
	}
	best := -1
	for i := range first.Class.Buyable.All {
		n := countFitting(x.Pods, k.Market.Offers[i].Type.Room)
		if (n > most || n == most && k.Market.CompareOffer(i, best) < 0) && k.Market.OnSale(i) && k.KeepsMinValues(i, nil, first) {
			best, most = i, n
		}
	}
	if most <= there {
		return x.Pods // one by one they find the machine that is there
	}
	b := k.Buy(best)
	for i, y := range x.Pods {
		if !k.Accepts(b, y) {
			if i == 0 {
				k.Drop(b)
			}
			return x.Pods[i:]
		}
		k.Join(b, y)
	}
	return nil
}

// countFitting is how many of the pods fit into the room, one after the other.
func countFitting(pods []*packing.Pod, room []int64) int {
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
