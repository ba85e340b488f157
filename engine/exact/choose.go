package exact

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
)

// growableMachines is how many of the youngest planned machines may still become larger ones.
const growableMachines = 4

// Put finds a place for the pod: machines that are there, then planned ones,
// then one more. remaining is how many of its class wait, itself included.
func (k *Placer) Put(x *packing.Pod, remaining int) bool {
	if b := k.BestOf(k.Existing, x, &x.Class.FullExisting, nil); b != nil {
		k.Join(b, x)
		return true
	}
	for _, level := range k.levels(x.Class) {
		modest := func(b *packing.Bin) bool {
			return level.has(k.Market.Offers[b.Offer].DomainSet) && k.Advice.Modest(x.Class.PodInfo, b.Node)
		}
		if b := k.BestOf(k.candidates(x.Class), x, &x.Class.FullPlanned, modest); b != nil {
			k.Join(b, x)
			return true
		}
		if b := k.Obtain(x, remaining, level); b != nil {
			k.Join(b, x)
			return true
		}
	}
	return k.Squeeze(x, remaining)
}

// Level is a set of topology domains; nil is all of them.
type Level []int

func (l Level) has(domains int) bool { return l == nil || slices.Contains(l, domains) }

// levels are the domains in which a new machine for the class is looked for, the
// emptiest first when its pods are to be spread.
func (k *Placer) levels(c *packing.Class) []Level {
	if c.PodInfo.Indifferent() || !k.Advice.Spreads(c.PodInfo) {
		return []Level{nil}
	}
	byCount := map[int]Level{}
	var counts []int
	for _, r := range k.Reachable(c) {
		n := k.Advice.Fullness(c.PodInfo, k.Market.At(r))
		if byCount[n] == nil {
			counts = append(counts, n)
		}
		byCount[n] = append(byCount[n], k.Market.Offers[r].DomainSet)
	}
	slices.Sort(counts)
	out := make([]Level, len(counts))
	for i, n := range counts {
		out[i] = byCount[n]
	}
	return out
}

// Obtain returns a planned machine made large enough for the pod, or a new one, whichever costs less.
func (k *Placer) Obtain(x *packing.Pod, remaining int, in Level) *packing.Bin {
	offer, cost := k.cheapest(x, remaining, in)
	var best *packing.Bin
	larger := -1
	some := k.candidates(x.Class)
	for i := len(some) - 1; i >= 0 && (i >= len(some)-growableMachines || x.Class.Colocated); i-- {
		b := some[i]
		if !in.has(k.Market.Offers[b.Offer].DomainSet) || !k.mayJoin(b, x) {
			continue
		}
		to := k.grownFor(b, x)
		if to < 0 {
			continue
		}
		more := k.Market.Offers[to].Weighs - k.Market.Offers[b.Offer].Weighs + k.Options.Regret(k.RegretOn(x.Class, b))
		if offer < 0 || more <= cost {
			best, larger, offer, cost = b, to, to, more
		}
	}
	switch {
	case best != nil:
		k.Turn(best, larger)
		return best
	case offer >= 0:
		return k.Buy(offer)
	}
	return nil
}

// mayJoin reports whether only the bin's size may keep the pod away.
func (k *Placer) mayJoin(b *packing.Bin, x *packing.Pod) bool {
	c := x.Class
	return b.Allowed.Meets(c.Offers) && k.Settles(b, c) &&
		(c.Plain || k.Advice.Modest(c.PodInfo, b.Node) && k.Ledger.Allows(c.PodInfo, b.Node) && fit.FillsBesideRoom(x.Pod, b.Place))
}

// grownFor is grown, which need not be asked again of a machine that is as it was, unless limits may have changed the answer.
func (k *Placer) grownFor(b *packing.Bin, x *packing.Pod) int {
	o := &k.Market.Offers[b.Offer]
	if pool := o.Type.Pool; len(pool.Limits) > 0 || pool.HasMinValues || len(k.Market.Quotas) > 0 {
		return k.grown(b, x)
	}
	if k.growth.class != x.Class {
		k.growth = growing{x.Class, map[*packing.Bin]resulting{}}
	}
	if g, known := k.growth.to[b]; known && g.changes == b.Changes {
		return g.offer
	}
	to := k.grown(b, x)
	k.growth.to[b] = resulting{to, b.Changes}
	return to
}

// grown returns the cheapest offer by which the bin would hold the pod as well; -1 if there is none.
func (k *Placer) grown(b *packing.Bin, x *packing.Pod) int {
	c := x.Class
	from := &k.Market.Offers[b.Offer]
	best := -1
	k.Market.Charge(b.Offer, -1)
	for i := range b.Allowed.All {
		o := &k.Market.Offers[i]
		k.Steps++
		if !c.Offers.Has(i) || o.DomainSet != from.DomainSet || best >= 0 && o.Weighs >= k.Market.Offers[best].Weighs {
			continue
		}
		if market.FitsBoth(c.Need, b.Used, o.Type.Room) && k.Market.OnSale(i) && k.KeepsMinValues(i, b, x) && k.KeepsDevices(b, i) {
			best = i
		}
	}
	k.Market.Charge(b.Offer, 1)
	return best
}

// cheapest returns the offer on sale that hosts the pod, and as many of its
// class as will come, at the least cost a pod, in the heaviest pools that can; -1 if there is none.
func (k *Placer) cheapest(x *packing.Pod, remaining int, in Level) (offer int, cost money.Micro) {
	c := x.Class
	allowed := map[int]bool{}
	for _, r := range k.Reachable(c) {
		t := k.Market.Offers[r].DomainSet
		allowed[t] = in.has(t) && (c.PodInfo.Indifferent() || k.Ledger.AllowsNew(c.PodInfo, k.Market.At(r)))
	}
	perNode := remaining
	if limit := k.Advice.PerHost(c.PodInfo); limit > 0 {
		perNode = min(perNode, limit)
	}
	for _, tier := range k.Market.Tiers {
		best := -1
		for _, p := range tier {
			if !p.In(c.Buyable) {
				continue
			}
			for i := range p.Offers.All {
				if !c.Buyable.Has(i) || !allowed[k.Market.Offers[i].DomainSet] {
					continue
				}
				k.Steps++
				o := &k.Market.Offers[i]
				n := int64(k.Holds(i, x, min(perNode, market.Times(c.Need, o.Type.Room))))
				if n == 0 {
					continue
				}
				each := (o.Weighs+k.Market.Every).Part(1, n) + k.Options.Regret(c.Regret(k.Packing, i))
				if best >= 0 && cmp.Or(cmp.Compare(each, cost), k.Market.CompareOffer(i, best)) >= 0 {
					continue
				}
				if k.Market.OnSale(i) && fit.FillsBesideRoom(x.Pod, k.Market.At(i)) && k.KeepsMinValues(i, nil, x) {
					best, cost = i, each
				}
			}
		}
		if best >= 0 {
			return best, cost
		}
	}
	return -1, 0
}

// Squeeze puts the pod on a machine that is planned already, however crowded.
func (k *Placer) Squeeze(x *packing.Pod, _ int) bool {
	b := k.BestOf(k.candidates(x.Class), x, new(int), nil)
	if b != nil {
		x.Crowded = true
		k.Join(b, x)
	}
	return b != nil
}
