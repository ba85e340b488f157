package pack

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/world"
)

// keptAhead reports whether a pod has no place while one of lower priority kept its own.
func (k *packer) keptAhead() bool {
	for _, x := range k.Unplaced {
		for i := range k.Stands(x.Class.Demands).All {
			if slices.ContainsFunc(k.Existing[i].Pods, func(y *packing.Pod) bool { return y.Kept && y.Pod.Priority < x.Pod.Priority }) {
				return true
			}
		}
	}
	return false
}

// fairer reports whether fewer pods are left than there are in other, those of the highest priority first.
func (k *packer) fairer(other *packer) bool {
	priorities := func(k *packer) []int32 {
		out := make([]int32, len(k.Unplaced))
		for i, x := range k.Unplaced {
			out[i] = -x.Pod.Priority
		}
		slices.Sort(out)
		return out
	}
	mine, theirs := priorities(k), priorities(other)
	for i := range min(len(mine), len(theirs)) {
		if mine[i] != theirs[i] {
			return mine[i] > theirs[i]
		}
	}
	return len(mine) < len(theirs)
}

// unfair reports whether a pod has no place while one of lower priority uses up limits.
func (k *packer) unfair() bool {
	limited := slices.ContainsFunc(k.Market.Pools, func(p *market.Pool) bool { return len(p.Limits) > 0 })
	if !limited || len(k.Unplaced) == 0 {
		return false
	}
	highest := slices.MaxFunc(k.Unplaced, func(a, b *packing.Pod) int { return cmp.Compare(a.Pod.Priority, b.Pod.Priority) }).Pod.Priority
	for _, b := range k.Planned {
		if len(k.Market.Offers[b.Offer].Type.Pool.Limits) == 0 {
			continue
		}
		for _, y := range b.Pods {
			if y.Pod.Priority >= highest {
				continue
			}
			for _, x := range k.Unplaced {
				if x.Pod.Priority > y.Pod.Priority && x.Class.Offers.Meets(k.Market.Offers[b.Offer].Type.Pool.Offers) {
					return true
				}
			}
		}
	}
	return false
}

// An isolated pod keeps away from others by zone, or another domain beyond the
// machine, and these others, which have no such term themselves, go wherever there
// is room: soon they are in every zone and leave none to it, or it is in every
// zone first and leaves none to them. It cannot be known beforehand whether that
// happens, so it is seen to afterwards: where one or the other found no place the
// pods are packed again, and isolated ones choose theirs first, close together.

// retryIsolatedFirst packs again with isolated pods first if some, or some they keep away from,
// have no place. The result counts only if more get one and none loses the one it had.
func (k *packer) retryIsolatedFirst(m ordering) *packer {
	if !slices.ContainsFunc(k.Unplaced, func(x *packing.Pod) bool { return k.Isolated(x) || k.Advice.Shunned(x.Class.PodInfo) }) {
		return k
	}
	m.isolatedFirst = true
	if e := pack(k.World, k.Options, m); e.improves(k) && !e.unfair() {
		return e
	}
	return k
}

// improves reports whether fewer pods are left than there are in other, and none that are not.
func (k *packer) improves(other *packer) bool {
	left := map[world.Key]bool{}
	for _, x := range other.Unplaced {
		left[x.Pod.Key] = true
	}
	return len(k.Unplaced) < len(other.Unplaced) && !slices.ContainsFunc(k.Unplaced, func(x *packing.Pod) bool { return !left[x.Pod.Key] })
}
