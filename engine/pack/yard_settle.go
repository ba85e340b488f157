package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

// Settle puts the pods in the air onto machines that are there, tried in the
// order told, and returns how many are still in the air.
func (y *Yard) Settle(order []int) int {
	k := y.k
	sortWaiting(k.left)
	var rest []*waiting
	from, last := 0, (*class)(nil)
	for _, x := range k.left {
		if x.class != last {
			from, last = 0, x.class
		}
		at := y.choose(x, order, from)
		if at < 0 {
			rest = append(rest, x)
			if x.class.plain {
				from = len(order)
			}
			continue
		}
		if x.class.plain && !k.choosy(x.class) {
			from = at
		}
		k.join(k.old[order[at]], x)
	}
	k.left = rest
	return len(rest)
}

// Send puts pods in the air onto the machines they are meant for, as far as those take them.
func (y *Yard) Send(meant map[world.Key]int) {
	k := y.k
	for again := len(meant) > 0; again; {
		again = false
		var rest []*waiting
		for _, x := range k.left {
			if i, some := meant[x.pod.Key]; some && k.accepts(k.old[i], x) {
				k.join(k.old[i], x)
				again = true
				continue
			}
			rest = append(rest, x)
		}
		k.left = rest
	}
}

// choose returns which of the machines takes the pod with the least regret, the first of several; -1 if none does.
func (y *Yard) choose(x *waiting, order []int, from int) int {
	k := y.k
	best, least := -1, 0
	choosy := k.choosy(x.class)
	for n := from; n < len(order); n++ {
		b := k.old[order[n]]
		if !k.accepts(b, x) {
			continue
		}
		if !choosy {
			return n
		}
		if r := k.regretOn(x.class, b); best < 0 || r < least {
			best, least = n, r
		}
		if least == 0 {
			break
		}
	}
	return best
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
	y.k.charge(b.offer, -1)
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
