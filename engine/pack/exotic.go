package pack

import (
	"fmt"
	"slices"
)

// Exotic types are bare metal and those with GPUs or accelerators. A machine is
// planned as one, or asked for with one on its menu, only if in its pool no other
// type would host the pod that it is bought for; in its topology domains, if the
// pod is spread over them or bound to them.
// Pools with minValues are exempt: they want many types.

// exotic returns the offers of exotic types that the rule is about; nil if there are none.
func (m *market) exotic() set {
	var out set
	for _, p := range m.pools {
		for _, t := range p.types {
			if p.least || !t.shape.Exotic() {
				continue
			}
			p.exotic = append(p.exotic, t)
			if out == nil {
				out = newSet(len(m.offers))
			}
			for i := t.first; i < t.last; i++ {
				out.add(i)
			}
		}
	}
	return out
}

// spare finds out which exotic types are needed, and forgets the others.
func (k *Packer) spare() {
	m := k.market
	if m.exotics = m.exotic(); m.exotics == nil {
		for _, c := range k.classes {
			c.opens = c.offers
		}
		return
	}
	needed := newSet(len(m.offers))
	for _, c := range k.classes {
		c.opens = k.ordinary(slices.Clone(c.offers), c.pinned)
		for i := range c.opens.all {
			if m.exotics.has(i) {
				needed.add(i)
				c.needy = true
			}
		}
		k.needy = k.needy || c.needy
	}
	unneeded := slices.Clone(m.exotics)
	unneeded.less(needed)
	for _, c := range k.classes {
		c.offers.less(unneeded)
		c.reach = nil
	}
	for _, p := range m.pools {
		p.offers.less(unneeded)
	}
}

// ordinary drops the exotic offers from the set where it has others of the same
// pool, in the same topology domains if it matters in which the machine is, and returns it.
func (k *Packer) ordinary(offers set, pinned bool) set {
	m := k.market
	if m.exotics == nil || !offers.meets(m.exotics) {
		return offers
	}
	for _, p := range m.pools {
		if !p.sells(p.exotic, offers) {
			continue
		}
		tuples := map[int]bool{}
		tuple := func(i int) int {
			if pinned {
				return m.offers[i].tuple
			}
			return 0
		}
		for _, t := range p.types {
			for i := t.first; i < t.last; i++ {
				if offers.has(i) && !m.exotics.has(i) {
					tuples[tuple(i)] = true
				}
			}
		}
		for _, t := range p.exotic {
			for i := t.first; i < t.last; i++ {
				if tuples[tuple(i)] {
					offers.drop(i)
				}
			}
		}
	}
	return offers
}

// sells reports whether the set has an offer of one of the types.
func (p *pool) sells(types []*machine, offers set) bool {
	return slices.ContainsFunc(types, func(t *machine) bool {
		for i := t.first; i < t.last; i++ {
			if offers.has(i) {
				return true
			}
		}
		return false
	})
}

// choice is what a machine that is planned as the offer may become as well.
func (k *Packer) choice(offer int) set {
	m := k.market
	out := slices.Clone(m.offers[offer].machine.pool.offers)
	if m.exotics != nil && !m.exotics.has(offer) {
		out.less(m.exotics)
	}
	return out
}

// searchNeedy buys what only exotic types can host, and puts onto these machines what else they have room for.
func (k *Packer) searchNeedy() {
	var needy, rest []*waiting
	for _, x := range k.left {
		if x.class.needy {
			needy = append(needy, x)
		} else {
			rest = append(rest, x)
		}
	}
	if len(needy) == 0 || len(rest) == 0 {
		return
	}
	k.left = needy
	k.search()
	k.loose = true
	needy = k.left
	k.left = nil
	for c, pods := range runs(rest) {
		if c.plain && !k.choosy(c) {
			pods = k.ride(c, pods)
		}
		k.left = append(k.left, pods...)
	}
	k.left = append(k.left, needy...)
	sortWaiting(k.left)
}

// ride puts as many of the pods as fit onto planned machines of exotic types, and returns the rest.
func (k *Packer) ride(c *class, pods []*waiting) []*waiting {
	for _, b := range k.new {
		if len(pods) == 0 {
			break
		}
		if !k.market.exotics.has(b.offer) || !k.accepts(b, pods[0]) {
			continue
		}
		n := min(times(c.need, b.free), len(pods))
		k.joinAll(b, c, pods[:n])
		pods = pods[n:]
	}
	return pods
}

// dear is how many times as much as what is planned a type may cost to be worth a word.
const dear = 3

// leftOut says which exotic types would host the pods of the bin at a like price
// and are not asked for; empty if there are none.
func (k *Packer) leftOut(b *bin) string {
	if k.market.exotics == nil || k.market.exotics.has(b.offer) {
		return ""
	}
	planned := &k.market.offers[b.offer]
	var signatures []*signature
	for _, x := range b.pods {
		if !slices.Contains(signatures, x.class.sig) {
			signatures = append(signatures, x.class.sig)
		}
	}
	var cheapest *machine
	n := 0
	for _, t := range planned.machine.pool.exotic {
		if t.first != t.from || t.least > dear*planned.price || !fits(b.used, t.room) || slices.ContainsFunc(signatures, func(s *signature) bool { return !k.stood(t, s) }) {
			continue
		}
		if n++; cheapest == nil || t.least < cheapest.least {
			cheapest = t
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return cheapest.shape.Name + ": bare metal or with accelerators"
	}
	return fmt.Sprintf("%d types that are bare metal or have accelerators, such as %s", n, cheapest.shape.Name)
}
