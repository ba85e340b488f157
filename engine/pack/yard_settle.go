package pack

import (
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
)

// Settle puts the pods in the air onto machines that are there, and returns how
// many are still in the air. If all is set it is done with the first that stays there.
//
// A pod goes where it takes least of what could be had there otherwise; of
// several such machines, onto the first in the order told.
func (y *Yard) Settle(order []int, all bool) int {
	k := y.k
	sortWaiting(k.left)
	var rest []*waiting
	from, last := 0, (*class)(nil)
	for n, x := range k.left {
		if x.class != last {
			from, last = 0, x.class
		}
		at, first := y.choose(x, order, from)
		if x.class.plain {
			from = first
		}
		if at < 0 {
			rest = append(rest, x)
			if all {
				rest = append(rest, k.left[n+1:]...)
				break
			}
			continue
		}
		k.join(k.old[at], x)
	}
	k.left = rest
	return len(rest)
}

// choose returns which of the machines takes the pod with the least regret and,
// of several, at the least cost; -1 if none does. It also returns the first in
// the order that might take another pod of its class.
func (y *Yard) choose(x *waiting, order []int, from int) (at, first int) {
	k := y.k
	c, choosy := x.class, k.choosy(x.class)
	at, first = -1, len(order)
	least, cheapest := 0, math.Inf(1)
	for n := from; n < len(order); n++ {
		i := order[n]
		free := y.freeOn(i)
		if !market.Fits(c.need, free) {
			continue
		}
		cost := y.cost(c.need, free)
		if cost >= cheapest && !choosy || !k.accepts(k.old[i], x) {
			continue
		}
		first = min(first, n)
		regret := 0
		if choosy {
			regret = k.regretOn(c, k.old[i])
		}
		if at >= 0 && (regret > least || regret == least && cost >= cheapest) {
			continue
		}
		if at, least, cheapest = i, regret, cost; least == 0 && cost <= 0 {
			break
		}
	}
	return at, first
}

// cost is how much less of the usual mix of pods a machine holds once it has to
// hold need as well. What takes only of what is left over there anyway costs nothing.
func (y *Yard) cost(need, free []int64) float64 {
	before, after := math.MaxFloat64, math.MaxFloat64
	for _, s := range y.usual {
		if holds := float64(float64(free[s.dim]) * s.of); holds < before {
			before = holds
		}
		if holds := float64(float64(free[s.dim]-need[s.dim]) * s.of); holds < after {
			after = holds
		}
	}
	return before - after
}

// Buy buys machines for the pods in the air, and returns what they are. It
// reports false if some found none; they stay in the air.
func (y *Yard) Buy() ([]int, bool) {
	k := y.k
	for _, c := range k.classes {
		c.tried, c.triedOn = 0, 0
	}
	air := slices.Clone(k.left)
	sortWaiting(k.left)
	if !k.options.ExactOnly {
		k.search()
	}
	k.exact()
	k.trimAll()
	k.exact()
	for _, b := range k.new {
		b.shut = true
		y.stand(b)
	}
	var out []int
	for _, b := range k.new {
		out = append(out, len(y.bought))
		y.bought = append(y.bought, b)
	}
	k.new = nil
	return out, len(k.left) == 0 && y.sound(air)
}

// stand notes that the machine has been bought.
func (y *Yard) stand(b *bin) {
	y.standing = append(y.standing, b)
	y.trail = append(y.trail, step{bought: b})
}

// giveBack undoes that.
func (y *Yard) giveBack(b *bin) {
	y.standing = slices.DeleteFunc(y.standing, func(x *bin) bool { return x == b })
	y.k.ledger.Leave(b.node)
	y.k.market.Charge(b.offer, -1)
}

// sound reports whether kube-scheduler could bind the pods one after the other in some order.
func (y *Yard) sound(pods []*waiting) bool {
	k := y.k
	rest := slices.Clone(pods)
	sortWaiting(rest)
	for _, x := range rest {
		k.ledger.Take(x.class.subject, x.bin.node)
	}
	for len(rest) > 0 {
		var stuck []*waiting
		for _, x := range rest {
			k.steps++
			if k.ledger.Allows(x.class.subject, x.bin.node) {
				k.ledger.Put(x.class.subject, x.bin.node)
				continue
			}
			stuck = append(stuck, x)
		}
		if len(stuck) == len(rest) {
			break
		}
		rest = stuck
	}
	for _, x := range rest {
		k.ledger.Put(x.class.subject, x.bin.node)
	}
	return len(rest) == 0
}
