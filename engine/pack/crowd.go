package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/spread"
)

// crowd is pods that have to share one machine: all of a group that wants its
// own company there and has none yet. Whoever of them goes first decides for all,
// so they are placed as if they were one pod that needs what all of them need.
type crowd struct {
	pods   []*waiting
	need   []int64
	offers market.Set    // that stand and have room for all
	simple spread.Simple // what their terms come to for machines that also others use
	hard   bool          // more than amounts and such terms decides where they may go
	capped bool          // they also mean to be few on one machine
}

// crowds gathers the crowds among the pods, and returns the others.
func (k *Packer) crowds(pods []*waiting) (crowds []*crowd, others []*waiting) {
	byGroup := map[int32]*crowd{}
	for c, run := range runs(pods) {
		group, s, ok := k.crowded(c)
		if !ok {
			others = append(others, run...)
			continue
		}
		if byGroup[group] == nil {
			byGroup[group] = &crowd{need: make([]int64, len(k.market.Dims)), offers: slices.Clone(c.offers)}
			crowds = append(crowds, byGroup[group])
		}
		k.swell(byGroup[group], c, s, run)
	}
	for _, x := range crowds {
		k.market.KeepFitting(x.offers, x.need)
	}
	return crowds, others
}

// crowded returns the group whose pods have to share one machine, if the class is of one and it has no machine yet.
func (k *Packer) crowded(c *class) (group int32, s spread.Simple, ok bool) {
	if !c.clings {
		return 0, s, false
	}
	s, ok = k.ledger.Simple(c.subject)
	if !ok || s.Home == nil || s.Home.Key != label.Hostname {
		return 0, s, false
	}
	return s.Home.Group, s, true
}

// swell adds pods of a class to the crowd.
func (k *Packer) swell(x *crowd, c *class, s spread.Simple, pods []*waiting) {
	x.pods = append(x.pods, pods...)
	for i, n := range c.need {
		for range pods {
			x.need[i] = amount.Plus(x.need[i], n)
		}
	}
	x.offers.Intersect(c.offers)
	x.capped = x.capped || s.PerHost > 0 || len(s.Shared) > 0
	x.hard = x.hard || x.capped || c.sig.Open || !k.tallies.Cover(c.pod)
	x.simple.Owns, x.simple.Shunned = append(x.simple.Owns, s.Owns...), append(x.simple.Shunned, s.Shunned...)
	for _, r := range k.reachable(c) {
		if !k.ledger.Accepts(c.subject, k.market.At(r)) {
			k.market.DropTuple(x.offers, k.market.Offers[r].Tuple)
		}
	}
}

// pinned reports whether it matters to one of the pods in which domain they are.
func (x *crowd) pinned() bool {
	return slices.ContainsFunc(x.pods, func(y *waiting) bool { return y.class.pinned })
}

// crowdLot returns the crowd as a lot of one piece; false if it has to be looked at by itself.
func (k *Packer) crowdLot(x *crowd) (*lot, bool) {
	quarrels := slices.ContainsFunc(x.simple.Owns, func(g int32) bool { return slices.Contains(x.simple.Shunned, g) })
	if x.hard || quarrels || x.offers.Empty() {
		return nil, false
	}
	c := x.pods[0].class
	offers := k.market.KeepOrdinary(slices.Clone(x.offers), x.pinned())
	return &lot{class: c, name: c.pod.String(), pods: x.pods, need: x.need, whole: true, offers: offers, simple: x.simple, told: k.needy}, true
}

// placeCrowds puts crowds, as far as they are found room, onto machines that are
// there or on their way, then planned ones if wanted, then new ones.
func (k *Packer) placeCrowds(onNew bool) {
	crowds, others := k.crowds(k.left)
	for _, x := range crowds {
		switch {
		case k.seat(k.old, x):
		case onNew && (k.seat(k.new, x) || k.house(x)):
		case onNew && x.offers.Empty():
			others = append(others, k.part(x)...)
		default:
			others = append(others, x.pods...)
		}
	}
	k.left = others
}

// seat puts the crowd onto the first of the bins that takes all of it.
func (k *Packer) seat(bins []*bin, x *crowd) bool {
	return slices.ContainsFunc(bins, func(b *bin) bool { return k.joinCrowd(b, x) })
}

// joinCrowd puts all of the crowd onto the bin, or nobody.
func (k *Packer) joinCrowd(b *bin, x *crowd) bool {
	if !market.Fits(x.need, b.free) {
		return false
	}
	for i, y := range x.pods {
		if !k.accepts(b, y) {
			for _, z := range x.pods[:i] {
				k.quit(z)
			}
			return false
		}
		k.join(b, y)
	}
	for _, y := range x.pods {
		y.squeezed = y.squeezed || x.capped
	}
	return true
}

// house buys the cheapest machine that holds the crowd.
func (k *Packer) house(x *crowd) bool {
	opens := k.market.KeepOrdinary(slices.Clone(x.offers), x.pinned())
	for _, tier := range k.market.Tiers {
		best := -1
		for _, p := range tier {
			for i := range p.Offers.All {
				if opens.Has(i) && (best < 0 || k.market.CompareOffer(i, best) < 0) && k.market.OnSale(i) && k.varied(i, nil, x.pods[0]) {
					best = i
				}
			}
		}
		if best < 0 {
			continue
		}
		b := k.buy(best)
		if k.joinCrowd(b, x) {
			return true
		}
		k.drop(b)
	}
	return false
}

// part places a crowd that no machine on sale can hold: as many as there is room
// for where that is most. It returns the others.
func (k *Packer) part(x *crowd) []*waiting {
	first := x.pods[0]
	there, most := 0, 0
	for _, b := range k.old {
		if k.accepts(b, first) {
			there = max(there, held(x.pods, b.free))
		}
	}
	best := -1
	for i := range first.class.opens.All {
		n := held(x.pods, k.market.Offers[i].Type.Room)
		if (n > most || n == most && k.market.CompareOffer(i, best) < 0) && k.market.OnSale(i) && k.varied(i, nil, first) {
			best, most = i, n
		}
	}
	if most <= there {
		return x.pods // one by one they find the machine that is there
	}
	b := k.buy(best)
	for i, y := range x.pods {
		if !k.accepts(b, y) {
			if i == 0 {
				k.drop(b)
			}
			return x.pods[i:]
		}
		k.join(b, y)
	}
	return nil
}

// held is how many of the pods fit into the room, one after the other.
func held(pods []*waiting, room []int64) int {
	left := slices.Clone(room)
	for i, x := range pods {
		if !market.Fits(x.class.need, left) {
			return i
		}
		for d, n := range x.class.need {
			left[d] -= n
		}
	}
	return len(pods)
}
