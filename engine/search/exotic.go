package search

import (
	"math/bits"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
)

// exotics buys exotic types for pods that need them.
type exotics struct{ *Searcher }

// search buys what only exotic types can host, and puts onto these machines what else they have room for.
func (k exotics) search() {
	var needy, rest []*packing.Pod
	for _, x := range k.Unplaced {
		if x.Class.NeedsExotic {
			needy = append(needy, x)
		} else {
			rest = append(rest, x)
		}
	}
	if len(needy) == 0 || len(rest) == 0 {
		return
	}
	k.Unplaced = needy
	k.Search()
	k.Loose = true
	needy = k.Unplaced
	k.Unplaced = nil
	k.Unplaced = append(k.fill(rest), needy...)
	packing.SortPods(k.Unplaced)
}

// fill puts as many of the pods as fit, which stand in order, onto planned machines of exotic types, those of more priority
// first, and returns the rest.
func (k exotics) fill(pods []*packing.Pod) (rest []*packing.Pod) {
	for len(pods) > 0 {
		n := 1
		for n < len(pods) && pods[n].Pod.Priority == pods[0].Pod.Priority {
			n++
		}
		rest = append(rest, k.fillAlike(pods[:n])...)
		pods = pods[n:]
	}
	return rest
}

// fillAlike does so with pods of one priority.
func (k exotics) fillAlike(pods []*packing.Pod) (rest []*packing.Pod) {
	var stacks []*stack
	for c, some := range packing.ByClass(pods) {
		if c.Plain && !k.HasWishes(c) {
			stacks = append(stacks, &stack{c, some})
		} else {
			rest = append(rest, some...)
		}
	}
	machines := slices.DeleteFunc(slices.Clone(k.Planned), func(b *packing.Bin) bool { return !k.Market.Exotics.Has(b.Offer) })
	most := max(mostStacks/max(len(machines), 1), leastStacks)
	for _, b := range machines {
		k.fillEvenly(b, stacks, most)
	}
	for _, s := range stacks {
		rest = append(rest, s.pods...)
	}
	packing.SortPods(rest)
	return rest
}

// stack is pods of one class that are left.
type stack struct {
	class *packing.Class
	pods  []*packing.Pod
}

// How many stacks are looked at side by side: for all machines together, and for one of them at least.
const (
	mostStacks  = 20_000
	leastStacks = 64
)

// fillEvenly fills a machine such that all of its room runs out at the same time. It looks at most stacks at a time, some large and some small.
func (k exotics) fillEvenly(b *packing.Bin, stacks []*stack, most int) {
	takes := slices.DeleteFunc(slices.Clone(stacks), func(s *stack) bool { return len(s.pods) == 0 || !k.Accepts(b, s.pods[0]) })
	stride := (len(takes) + most - 1) / most
	for from := range stride {
		var some []*stack
		for i := from; i < len(takes); i += stride {
			some = append(some, takes[i])
		}
		k.fillFrom(b, some)
	}
}

// fillFrom takes, again and again, of the stack after which the squares of what is free, as parts of the room, sum to least.
func (k exotics) fillFrom(b *packing.Bin, stacks []*stack) {
	room := k.Market.Offers[b.Offer].Type.Room
	for {
		stacks = slices.DeleteFunc(stacks, func(s *stack) bool { return len(s.pods) == 0 || !market.Fits(s.class.Need, b.Free) })
		if len(stacks) == 0 {
			return
		}
		k.Steps += len(stacks)
		best, most := stacks[0], int64(-1)
		for _, s := range stacks {
			if gain := gained(s.class.Need, b.Free, room); gain > most {
				best, most = s, gain
			}
		}
		n := min(market.Times(best.class.Need, b.Free), 1+len(best.pods)/8)
		k.JoinAll(b, best.class, best.pods[:n])
		best.pods = best.pods[n:]
	}
}

// gained is by how much the sum of the squares of what is free, as parts of the room, gets less with one of this need, which fits.
func gained(need, free, room []int64) int64 {
	sum := int64(0)
	for d, n := range need {
		if n > 0 {
			part := partOf(n, room[d])
			sum += part * (2*partOf(free[d], room[d]) - part)
		}
	}
	return sum
}

// partOf is n in parts of the room, of which there are about a million.
func partOf(n, room int64) int64 {
	high, low := bits.Mul64(uint64(n), 1<<20)
	part, _ := bits.Div64(high, low, uint64(max(n, room)))
	return int64(part)
}
