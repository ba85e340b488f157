package whatif

import (
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
)

// Settle puts the unplaced pods onto machines that are there, and returns how
// many are still unplaced. If all is set it may end once it is known that one of them stays there.
//
// A pod goes where it takes least of what could be had there otherwise; of
// several such machines, onto the first in the order told. Pods that have to share a
// machine go together, and a pod that others keep away is tried again as long as others find a place.
func (y *Cluster) Settle(order []int, all bool) int {
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

	order []int
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
	bins := make([]*packing.Bin, len(y.order))
	for n, i := range y.order {
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
	from, last := 0, (*packing.Class)(nil)
	for n, x := range k.Unplaced {
		if x.Class != last {
			from, last = 0, x.Class
		}
		at, first := y.choose(x, from)
		if x.Class.Plain {
			from = first
		}
		if at >= 0 {
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
// of several, at the least cost; -1 if none does. It also returns the first in
// the order that might take another pod of its class.
func (y settler) choose(x *packing.Pod, from int) (at, first int) {
	k := y.k
	c, choosy := x.Class, k.HasWishes(x.Class)
	at, first = -1, len(y.order)
	least, cheapest := 0, math.Inf(1)
	for n := from; n < len(y.order); n++ {
		i := y.order[n]
		free := y.freeOn(i)
		if !market.Fits(c.Need, free) {
			continue
		}
		costs := cost(y.usual, c.Need, free)
		if costs >= cheapest && !choosy || !k.Accepts(k.Existing[i], x) {
			continue
		}
		first = min(first, n)
		regret := 0
		if choosy {
			regret = k.RegretOn(c, k.Existing[i])
		}
		if at >= 0 && (regret > least || regret == least && costs >= cheapest) {
			continue
		}
		if at, least, cheapest = i, regret, costs; least == 0 && costs <= 0 {
			break
		}
	}
	return at, first
}

// cost is how much less of the usual mix of pods a machine holds once it has to
// hold need as well. What takes only of what is left over there anyway costs nothing.
func cost(usual []share, need, free []int64) float64 {
	before, after := math.MaxFloat64, math.MaxFloat64
	for _, s := range usual {
		if holds := float64(float64(free[s.dim]) * s.of); holds < before {
			before = holds
		}
		if holds := float64(float64(free[s.dim]-need[s.dim]) * s.of); holds < after {
			after = holds
		}
	}
	return before - after
}

// Buy buys machines for the unplaced pods, and returns what they are. It
// reports false if some found none; they stay unplaced.
func (y *Cluster) Buy() ([]int, bool) {
	k := y.k
	for _, c := range k.Classes {
		c.FullExisting, c.FullPlanned = 0, 0
	}
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
	return out, len(k.Unplaced) == 0 && k.BindableAfterOthers(unplaced)
}
