package repair

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/bind"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/solve"
)

// merger is two planned machines that could be one: what goes, what stays, and as which offer.
type merger struct {
	goes, stays *packing.Bin
	offer       int
	saves       money.Micro
}

// gather makes one planned machine of two, or moves one to a cheaper domain, where
// few pods are spread more evenly than they have to be: they are shared among domains
// one by one, although maxSkew may let several of them lie in one. It reports
// whether that was ever cheaper.
func (k *Repairer) gather() bool {
	if k.Waiting > solve.SmallProblem || !slices.ContainsFunc(k.Classes, mayBeUneven) {
		return false
	}
	changed := false
	for again := true; again; {
		again = slices.ContainsFunc(k.mergers(), k.merge) || slices.ContainsFunc(k.Planned, k.shift)
		changed = changed || again
	}
	return changed
}

// mayBeUneven reports whether pods of the class may differ in number between domains by more than one.
func mayBeUneven(c *packing.Class) bool {
	for i := range c.Pod.Spread {
		if s := &c.Pod.Spread[i]; !s.Soft && s.MaxSkew > 1 && s.Key != label.Hostname {
			return true
		}
	}
	return false
}

// mergers are the pairs of planned machines that would be cheaper as one, if room and labels were all there is to it; the best first.
func (k *Repairer) mergers() []merger {
	var out []merger
	for _, stays := range k.Planned {
		for _, goes := range k.Planned {
			if goes == stays || k.Market.Offers[goes.Offer].Type.Pool.Precedence > k.Market.Offers[stays.Offer].Type.Pool.Precedence {
				continue
			}
			if offer, saves := k.united(goes, stays); saves > 0 {
				out = append(out, merger{goes, stays, offer, saves})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b merger) int { return cmp.Compare(b.saves, a.saves) })
	return out
}

// united is the cheapest offer in the domains of the one that stays that has room for the pods of both, and what that saves.
func (k *Repairer) united(goes, stays *packing.Bin) (offer int, saves money.Micro) {
	k.Market.Charge(goes.Offer, -1)
	k.Market.Charge(stays.Offer, -1)
	allowed := slices.Clone(stays.Allowed)
	for _, x := range goes.Pods {
		allowed.Intersect(x.Class.Offers)
	}
	apart := k.Market.Offers[goes.Offer].Weighs + k.Market.Offers[stays.Offer].Weighs
	for i := range allowed.All {
		k.Steps++
		o := &k.Market.Offers[i]
		if saved := apart - o.Weighs; saved > saves && o.DomainSet == k.Market.Offers[stays.Offer].DomainSet &&
			market.FitsBoth(goes.Used, stays.Used, o.Type.Room) && k.Market.OnSale(i) && k.KeepsDevices(stays, i) {
			offer, saves = i, saved
		}
	}
	k.Market.Charge(stays.Offer, 1)
	k.Market.Charge(goes.Offer, 1)
	return offer, saves
}

// merge moves the pods of the one that goes, if the rules let all of them and no wish is worth more; else all is as it was.
func (k *Repairer) merge(m merger) bool {
	before, mark, pods := packing.Spend(k.Packing), k.Mark(), slices.Clone(m.goes.Pods)
	for _, x := range pods {
		k.Detach(x)
	}
	if m.offer != m.stays.Offer {
		k.Turn(m.stays, m.offer)
	}
	for _, x := range pods {
		if !k.Accepts(m.stays, x) || !k.Advice.Modest(x.Class.PodInfo, m.stays.Node) {
			break
		}
		k.Join(m.stays, x)
	}
	gone := k.Market.Offers[m.goes.Offer].Weighs + k.Market.Every
	if len(m.goes.Pods) == 0 && !slices.ContainsFunc(pods, func(x *packing.Pod) bool { return x.Bin == nil }) && bind.Possible(k.Packing) && packing.Spend(k.Packing)-gone < before {
		k.Drop(m.goes)
		k.Commit(mark)
		return true
	}
	k.Undo(mark)
	return false
}

// shift moves a planned machine with all its pods to the cheapest domain that may have it.
func (k *Repairer) shift(b *packing.Bin) bool {
	k.Market.Charge(b.Offer, -1)
	allowed := k.Market.Choice(b.Offer)
	for _, x := range b.Pods {
		allowed.Intersect(x.Class.Offers)
	}
	best := map[int]int{} // the cheapest offer in each set of domains
	for i := range allowed.All {
		k.Steps++
		o, other := &k.Market.Offers[i], -1
		if j, known := best[o.DomainSet]; known {
			other = j
		}
		if o.DomainSet != k.Market.Offers[b.Offer].DomainSet && o.Weighs < k.Market.Offers[b.Offer].Weighs && market.Fits(b.Used, o.Type.Room) && k.Market.OnSale(i) &&
			(other < 0 || o.Weighs < k.Market.Offers[other].Weighs) {
			best[o.DomainSet] = i
		}
	}
	k.Market.Charge(b.Offer, 1)
	offers := slices.SortedFunc(maps.Values(best), func(i, j int) int {
		return cmp.Or(cmp.Compare(k.Market.Offers[i].Weighs, k.Market.Offers[j].Weighs), cmp.Compare(i, j))
	})
	return slices.ContainsFunc(offers, func(offer int) bool { return k.relocate(b, offer) })
}

// relocate makes the machine one of the offer, in other domains, if the rules let all its pods and no wish is worth more.
func (k *Repairer) relocate(b *packing.Bin, offer int) bool {
	before, mark, pods := packing.Spend(k.Packing), k.Mark(), slices.Clone(b.Pods)
	for _, x := range pods {
		k.Detach(x)
	}
	k.MoveTo(b, offer)
	for _, x := range pods {
		if !k.Accepts(b, x) || !k.Advice.Modest(x.Class.PodInfo, b.Node) {
			break
		}
		k.Join(b, x)
	}
	if len(b.Pods) == len(pods) && bind.Possible(k.Packing) && packing.Spend(k.Packing) < before {
		k.Commit(mark)
		return true
	}
	k.Undo(mark)
	return false
}
