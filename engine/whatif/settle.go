package whatif

import (
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/bind"
	"github.com/tenon-sh/tenon/engine/packing"
)

// Settle puts the unplaced pods onto machines that are there, and returns how
// many are still unplaced. If all is set it may end once it is known that one of them stays there.
//
// A pod goes where it takes least of what could be had there otherwise; several
// such machines take turns in the order given. Pods that have to share a
// machine go together, and a pod that others keep away is tried again as long as others find a place.
func (y *Cluster) Settle(order *Order, all bool) int {
	k, into := y.k, settler{y, order, all}
	into.groups()
	packing.SortPods(k.Unplaced)
	for {
		before := len(k.Unplaced)
		into.once()
		if n := len(k.Unplaced); n == before || n == 0 || all && slices.ContainsFunc(k.Unplaced, isPlain) {
			return n
		}
	}
}

// settler puts unplaced pods onto machines, tried in an order.
type settler struct {
	*Cluster

	order *Order
	all   bool // it may end once it is known that one of the pods stays unplaced
}

// isPlain reports whether it makes no difference to the pod where others are.
func isPlain(x *packing.Pod) bool { return x.Class.Plain }

// groups puts pods that have to share a machine, and have none yet, onto one with room for all of them.
func (y settler) groups() {
	if !slices.ContainsFunc(y.k.Unplaced, func(x *packing.Pod) bool { return x.Class.Colocated }) {
		return
	}
	groups, others := y.k.Groups(y.k.Unplaced)
	bins := make([]*packing.Bin, y.order.Len())
	for n, i := range y.order.machines {
		bins[n] = y.k.Existing[i]
	}
	for _, g := range groups {
		if !y.k.PlaceOnOne(bins, g) {
			others = append(others, g.Pods...)
		}
	}
	y.k.Unplaced = others
}

// once tries every unplaced pod once. If all is set it ends with the first that stays and that no other could draw along.
func (y settler) once() {
	k := y.k
	var rest []*packing.Pod
	for n, x := range k.Unplaced {
		if at := y.choose(x); at >= 0 {
			k.Join(k.Existing[at], x)
			continue
		}
		rest = append(rest, x)
		if y.all && x.Class.Plain {
			rest = append(rest, k.Unplaced[n+1:]...)
			break
		}
	}
	k.Unplaced = rest
}

// choose returns which of the machines takes the pod with the least regret and,
// of several, at the least cost; -1 if none does. Of those that are alike in that it is the first in the order, from a
// place that is one further for each pod: were it always the same place, machines would one after the other be full of
// what is scarce there, with the rest of it left over.
func (y settler) choose(x *packing.Pod) int {
	o := y.order
	o.renew()
	c := choice{Order: o, pod: x, asks: y.usual.asks(x.Class.Need), choosy: y.k.HasWishes(x.Class), at: -1, cheapest: math.Inf(1)}
	c.among(o.next, o.Len())
	c.among(0, o.next)
	o.next = (o.next + 1) % max(o.Len(), 1)
	return c.at
}

// Buy buys machines for the unplaced pods, and returns what they are. It
// reports false if some found none; they stay unplaced.
func (y *Cluster) Buy() ([]int, bool) {
	k := y.k
	k.Full.Forget()
	unplaced := slices.Clone(k.Unplaced)
	packing.SortPods(k.Unplaced)
	if !k.Options.ExactOnly {
		k.Search()
	}
	k.PlaceEach()
	y.repair.Trim()
	k.PlaceEach()
	var out []int
	for _, b := range k.HandOver() {
		out = append(out, len(y.bought))
		y.bought = append(y.bought, b)
	}
	return out, len(k.Unplaced) == 0 && bind.AfterOthers(k.Packing, unplaced)
}
