package exact

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/packing"
)

// maxRelocations bounds how many pods are moved for the sake of others.
const maxRelocations = 500

// relocateCompanion makes room for a pod that wants the company of others on the very
// machine, where every machine that has it is full: one of these others moves to
// a new machine, and the pod follows it there.
func (k *Placer) relocateCompanion(x *packing.Pod, remaining int) bool {
	if !x.Class.Colocated || k.relocated >= maxRelocations {
		return false
	}
	y := k.companion(x)
	if y == nil {
		return false
	}
	k.relocated++
	offer, _ := k.cheapest(y, 1, nil)
	if offer < 0 {
		return false
	}
	from := y.Bin
	k.Leave(y)
	b := k.Buy(offer)
	k.Join(b, y)
	if k.Put(x, remaining) {
		return true
	}
	k.Leave(y)
	k.Drop(b)
	k.Join(from, y)
	return false
}

// companion returns the smallest pod on a planned machine that x wants to be with,
// that goes anywhere, and that no pod there depends on.
func (k *Placer) companion(x *packing.Pod) *packing.Pod {
	var best *packing.Pod
	for _, b := range k.Planned {
		if len(b.Pods) < 2 {
			continue
		}
		for _, y := range b.Pods {
			k.Steps++
			if y.Class.PodInfo.Indifferent() && k.Advice.Draws(x.Class.PodInfo, y.Class.PodInfo) && (best == nil || smaller(y, best)) && !k.needed(b, y) {
				best = y
			}
		}
	}
	return best
}

// needed reports whether a pod on the bin is there for the company of y alone.
func (k *Placer) needed(b *packing.Bin, y *packing.Pod) bool {
	return slices.ContainsFunc(b.Pods, func(z *packing.Pod) bool {
		return z.Class.Colocated && k.Advice.Draws(z.Class.PodInfo, y.Class.PodInfo) &&
			!slices.ContainsFunc(b.Pods, func(o *packing.Pod) bool { return o != y && o != z && k.Advice.Draws(z.Class.PodInfo, o.Class.PodInfo) })
	})
}

// smaller reports whether y needs less than other of what comes first among the dimensions.
func smaller(y, other *packing.Pod) bool {
	for i, n := range y.Class.Need {
		if n != other.Class.Need[i] {
			return n < other.Class.Need[i]
		}
	}
	return false
}
