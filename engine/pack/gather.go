package pack

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/solve"
)

// merger is two planned machines that could be one: what goes, what stays, and as which offer.
type merger struct {
	goes, stays *bin
	offer       int
	saves       int64
}

// gather makes one planned machine of two, or moves one to a cheaper domain, where
// few pods are spread more evenly than they have to be: they are shared among domains
// one by one, although maxSkew may let several of them lie in one. It reports
// whether that was ever cheaper.
func (k *Packer) gather() bool {
	if k.plan.Waiting > solve.Handful || !slices.ContainsFunc(k.classes, slack) {
		return false
	}
	changed := false
	for again := true; again; {
		again = slices.ContainsFunc(k.mergers(), k.merge) || slices.ContainsFunc(k.new, k.shift)
		changed = changed || again
	}
	return changed
}

// slack reports whether pods of the class may differ in number between domains by more than one.
func slack(c *class) bool {
	for i := range c.pod.Spread {
		if s := &c.pod.Spread[i]; !s.Soft && s.MaxSkew > 1 && s.Key != label.Hostname {
			return true
		}
	}
	return false
}

// mergers are the pairs of planned machines that would be cheaper as one, if room and labels were all there is to it; the best first.
func (k *Packer) mergers() []merger {
	var out []merger
	for _, stays := range k.new {
		for _, goes := range k.new {
			if goes == stays || k.market.Offers[goes.offer].Type.Pool.Weight > k.market.Offers[stays.offer].Type.Pool.Weight {
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
func (k *Packer) united(goes, stays *bin) (offer int, saves int64) {
	k.market.Charge(goes.offer, -1)
	k.market.Charge(stays.offer, -1)
	allowed := slices.Clone(stays.allowed)
	for _, x := range goes.pods {
		allowed.Intersect(x.class.offers)
	}
	apart := k.market.Offers[goes.offer].Expected + k.market.Offers[stays.offer].Expected
	for i := range allowed.All {
		k.steps++
		o := &k.market.Offers[i]
		if saved := apart - o.Expected; saved > saves && o.Tuple == k.market.Offers[stays.offer].Tuple &&
			market.FitsBoth(goes.used, stays.used, o.Type.Room) && k.market.OnSale(i) {
			offer, saves = i, saved
		}
	}
	k.market.Charge(stays.offer, 1)
	k.market.Charge(goes.offer, 1)
	return offer, saves
}

// merge moves the pods of the one that goes, if the rules let all of them and no wish is worth more; else all is as it was.
func (k *Packer) merge(m merger) bool {
	before, was, pods := k.spend(), m.stays.offer, slices.Clone(m.goes.pods)
	allowed, pinned, place := slices.Clone(m.stays.allowed), m.stays.pinned, *m.stays.place
	for _, x := range pods {
		k.unload(x)
	}
	if m.offer != was {
		k.turn(m.stays, m.offer)
	}
	for _, x := range pods {
		if !k.accepts(m.stays, x) || !k.ledger.Modest(x.class.subject, m.stays.node) {
			break
		}
		k.join(m.stays, x)
	}
	gone := k.market.Offers[m.goes.offer].Expected + k.options.charge()
	if len(m.goes.pods) == 0 && !slices.ContainsFunc(pods, func(x *waiting) bool { return x.bin == nil }) && k.bindable() && k.spend()-gone < before {
		k.drop(m.goes)
		return true
	}
	for _, x := range pods {
		if x.bin != nil {
			k.unload(x)
		}
	}
	if m.offer != was {
		k.turn(m.stays, was)
	}
	m.stays.allowed, m.stays.pinned, *m.stays.place = allowed, pinned, place
	for _, x := range pods {
		k.join(m.goes, x)
	}
	return false
}

// shift moves a planned machine with all its pods to the cheapest domain that may have it.
func (k *Packer) shift(b *bin) bool {
	k.market.Charge(b.offer, -1)
	allowed := k.market.Choice(b.offer)
	for _, x := range b.pods {
		allowed.Intersect(x.class.offers)
	}
	best := map[int]int{} // the cheapest offer in each tuple of domains
	for i := range allowed.All {
		k.steps++
		o, other := &k.market.Offers[i], -1
		if j, known := best[o.Tuple]; known {
			other = j
		}
		if o.Tuple != k.market.Offers[b.offer].Tuple && o.Expected < k.market.Offers[b.offer].Expected && market.Fits(b.used, o.Type.Room) && k.market.OnSale(i) &&
			(other < 0 || o.Expected < k.market.Offers[other].Expected) {
			best[o.Tuple] = i
		}
	}
	k.market.Charge(b.offer, 1)
	offers := slices.SortedFunc(maps.Values(best), func(i, j int) int {
		return cmp.Or(cmp.Compare(k.market.Offers[i].Expected, k.market.Offers[j].Expected), cmp.Compare(i, j))
	})
	return slices.ContainsFunc(offers, func(offer int) bool { return k.relocate(b, offer) })
}

// relocate makes the machine one of the offer, in other domains, if the rules let all its pods and no wish is worth more.
func (k *Packer) relocate(b *bin, offer int) bool {
	before, was, pods := k.spend(), b.offer, slices.Clone(b.pods)
	allowed, pinned, place := b.allowed, b.pinned, *b.place
	for _, x := range pods {
		k.unload(x)
	}
	k.enter(b, offer)
	b.allowed, b.pinned = k.market.Choice(offer), false
	for _, x := range pods {
		if !k.accepts(b, x) || !k.ledger.Modest(x.class.subject, b.node) {
			break
		}
		k.join(b, x)
	}
	if len(b.pods) == len(pods) && k.bindable() && k.spend() < before {
		return true
	}
	for _, x := range slices.Clone(b.pods) {
		k.unload(x)
	}
	k.enter(b, was)
	for _, x := range pods {
		k.join(b, x)
	}
	b.allowed, b.pinned = allowed, pinned
	b.place.Labels, b.place.Open = place.Labels, place.Open
	return false
}

// enter makes the machine, which holds no pods, one of an offer that may be in other domains.
func (k *Packer) enter(b *bin, offer int) {
	k.ledger.Leave(b.node)
	k.turn(b, offer)
	b.place.Ports, b.place.Attached = slices.Clip(k.market.Offers[offer].Type.Ports), nil
	b.node = k.ledger.Enter(b.place)
}

// bindable reports whether all pods could be bound where they are, in some order.
func (k *Packer) bindable() bool {
	stuck := k.replay()
	for _, x := range stuck {
		k.ledger.Put(x.class.subject, x.bin.node)
	}
	return len(stuck) == 0
}
