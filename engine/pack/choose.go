package pack

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// growing is how many of the youngest planned machines may still become larger ones.
const growing = 4

// put finds a place for the pod: machines that are there, then planned ones,
// then one more. remaining is how many of its class wait, itself included.
func (k *Packer) put(x *waiting, remaining int) bool {
	if b := k.among(k.old, x, &x.class.tried, nil); b != nil {
		k.join(b, x)
		return true
	}
	for _, level := range k.levels(x.class) {
		modest := func(b *bin) bool {
			return level.has(k.market.Offers[b.offer].Tuple) && k.ledger.Modest(x.class.subject, b.node)
		}
		if b := k.among(k.new, x, &x.class.triedOn, modest); b != nil {
			k.join(b, x)
			return true
		}
		if b := k.obtain(x, remaining, level); b != nil {
			k.join(b, x)
			return true
		}
	}
	return k.squeeze(x, remaining)
}

// among returns the bin that takes the pod with the least regret, the first of
// several. For a plain class, bins before from are known to be too full.
func (k *Packer) among(bins []*bin, x *waiting, from *int, only func(*bin) bool) *bin {
	c := x.class
	choosy := k.choosy(c)
	start := 0
	if c.plain {
		start = min(*from, len(bins))
	}
	var best *bin
	least := 0
	for i := start; i < len(bins); i++ {
		b := bins[i]
		if !c.plain && only != nil && !only(b) || !k.accepts(b, x) {
			if c.plain && best == nil && i == *from {
				*from = i + 1
			}
			continue
		}
		if !choosy {
			return b
		}
		if r := k.regretOn(c, b); best == nil || r < least {
			best, least = b, r
		}
		if least == 0 {
			break
		}
	}
	return best
}

// choosy reports whether it matters to pods of the class which of several places they get.
func (k *Packer) choosy(c *class) bool {
	return k.options.PreferencePolicy != Ignore && (len(c.wishes) > 0 || c.subject.Wishes())
}

// regretOn is the weight of soft demands that the bin would not meet.
func (k *Packer) regretOn(c *class, b *bin) int {
	sum := spread.SoftSpread*softTaints(c.pod, b.place.Taints) + k.ledger.Regret(c.subject, b.node)
	for _, w := range c.wishes {
		if !b.place.Meets(w.term) {
			sum += w.weight
		}
	}
	return sum
}

// softTaints counts the PreferNoSchedule taints that the pod does not tolerate.
func softTaints(p *world.Pod, taints []world.Taint) int {
	n := 0
	for _, t := range taints {
		if t.Effect == world.PreferNoSchedule && !fit.Tolerated(p.Tolerations, t) {
			n++
		}
	}
	return n
}

// level is a set of topology domains; nil is all of them.
type level []int

func (l level) has(tuple int) bool { return l == nil || slices.Contains(l, tuple) }

// levels are the domains in which a new machine for the class is looked for, the
// emptiest first when its pods are to be spread.
func (k *Packer) levels(c *class) []level {
	if c.subject.Indifferent() || !k.ledger.Spreads(c.subject) {
		return []level{nil}
	}
	byCount := map[int]level{}
	var counts []int
	for _, r := range k.reachable(c) {
		n := k.ledger.Fullness(c.subject, k.market.At(r))
		if byCount[n] == nil {
			counts = append(counts, n)
		}
		byCount[n] = append(byCount[n], k.market.Offers[r].Tuple)
	}
	slices.Sort(counts)
	out := make([]level, len(counts))
	for i, n := range counts {
		out[i] = byCount[n]
	}
	return out
}

// reachable returns one offer for each tuple of domains in which the class can be hosted.
func (k *Packer) reachable(c *class) []int {
	if c.reach == nil {
		var seen []int
		for i := range c.offers.All {
			if t := k.market.Offers[i].Tuple; !slices.Contains(seen, t) {
				seen = append(seen, t)
				c.reach = append(c.reach, i)
			}
		}
	}
	return c.reach
}

// obtain returns a planned machine made large enough for the pod, or a new one, whichever costs less.
func (k *Packer) obtain(x *waiting, remaining int, in level) *bin {
	offer, cost := k.cheapest(x, remaining, in)
	var best *bin
	larger := -1
	for i := len(k.new) - 1; i >= 0 && (i >= len(k.new)-growing || x.class.clings); i-- {
		b := k.new[i]
		if !in.has(k.market.Offers[b.offer].Tuple) || !k.mayJoin(b, x) {
			continue
		}
		to := k.grown(b, x)
		if to < 0 {
			continue
		}
		more := k.market.Offers[to].Expected - k.market.Offers[b.offer].Expected + k.options.regret(k.regretOn(x.class, b))
		if offer < 0 || more <= cost {
			best, larger, offer, cost = b, to, to, more
		}
	}
	switch {
	case best != nil:
		k.turn(best, larger)
		return best
	case offer >= 0:
		return k.buy(offer)
	}
	return nil
}

// mayJoin reports whether only the bin's size may keep the pod away.
func (k *Packer) mayJoin(b *bin, x *waiting) bool {
	c := x.class
	return b.allowed.Meets(c.offers) && k.opens(b, c) &&
		(c.plain || k.ledger.Modest(c.subject, b.node) && k.ledger.Allows(c.subject, b.node) && extras(x.pod, b.place))
}

// grown returns the cheapest offer by which the bin would hold the pod as well; -1 if there is none.
func (k *Packer) grown(b *bin, x *waiting) int {
	c := x.class
	from := &k.market.Offers[b.offer]
	best := -1
	k.market.Charge(b.offer, -1)
	for i := range b.allowed.All {
		o := &k.market.Offers[i]
		k.steps++
		if !c.offers.Has(i) || o.Tuple != from.Tuple || best >= 0 && o.Expected >= k.market.Offers[best].Expected {
			continue
		}
		if market.FitsBoth(c.need, b.used, o.Type.Room) && k.market.OnSale(i) && k.varied(i, b, x) {
			best = i
		}
	}
	k.market.Charge(b.offer, 1)
	return best
}

// cheapest returns the offer on sale that hosts the pod, and as many of its
// class as will come, at the least cost a pod, in the heaviest pools that can; -1 if there is none.
func (k *Packer) cheapest(x *waiting, remaining int, in level) (offer int, cost int64) {
	c := x.class
	allowed := map[int]bool{}
	for _, r := range k.reachable(c) {
		t := k.market.Offers[r].Tuple
		allowed[t] = in.has(t) && (c.subject.Indifferent() || k.ledger.AllowsNew(c.subject, k.fresh(r)))
	}
	perNode := remaining
	if limit := k.ledger.PerHost(c.subject); limit > 0 {
		perNode = min(perNode, limit)
	}
	for _, tier := range k.market.Tiers {
		best := -1
		for _, p := range tier {
			for i := range p.Offers.All {
				if !c.opens.Has(i) || !allowed[k.market.Offers[i].Tuple] {
					continue
				}
				k.steps++
				o := &k.market.Offers[i]
				n := int64(min(perNode, market.Times(c.need, o.Type.Room)))
				each := (o.Expected+k.options.charge())/n + k.options.regret(c.regret(k, i))
				if best >= 0 && cmp.Or(cmp.Compare(each, cost), k.market.CompareOffer(i, best)) >= 0 {
					continue
				}
				if k.market.OnSale(i) && extras(x.pod, k.market.At(i)) && k.varied(i, nil, x) {
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

// fresh is what a node of the offer would be like, under a name that no node has.
func (k *Packer) fresh(offer int) *fit.Place { return k.market.At(offer) }
