package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/world"
)

// keep puts pods where the last plan had them, as far as they may still go
// there. A plan that is being carried out is not made anew: its machines were
// chosen for just these pods, and other ways to fill them would leave some over.
func (k *placer) keep() {
	meant := k.meant()
	if len(meant) == 0 {
		return
	}
	var homeless, kept []*packing.Pod
	for _, x := range k.Unplaced {
		if meant[x.Pod.Key] == nil {
			homeless = append(homeless, x)
		} else {
			kept = append(kept, x)
		}
	}
	// Some can only go once others are there.
	for again := true; again; {
		again = false
		var rest []*packing.Pod
		for _, x := range kept {
			if b := meant[x.Pod.Key]; k.Accepts(b, x) || k.awaits(b, x) {
				k.Join(b, x)
				x.Kept, again = true, true
				continue
			}
			rest = append(rest, x)
		}
		kept = rest
	}
	k.Unplaced = append(homeless, kept...)
}

// awaits reports whether the bin's machine is out of reach only just now and would take the pod once it is back.
func (k *placer) awaits(b *packing.Bin, x *packing.Pod) bool {
	back, blinks := fit.Blinks(b.Machine, b.Place, k.World.At())
	return blinks && !b.Closed && market.Fits(x.Class.Need, b.Free) && fit.Stands(x.Pod, back) && k.Ledger.Allows(x.Class.Subject, b.Node) && packing.Extras(x.Pod, b.Place)
}

// meant is where the last plan had pods. Who remembers no plan finds it in what
// claims tell and pods were promised.
func (k *placer) meant() map[world.Key]*packing.Bin {
	out := map[world.Key]*packing.Bin{}
	byName := map[string]*packing.Bin{}
	for _, b := range k.Existing {
		if b.Place.Deleting {
			continue
		}
		byName[b.Place.Name] = b
		if c := b.Machine.Claim; c != nil {
			byName[c.Name] = b
			for _, key := range c.Pods {
				out[key] = b
			}
		}
	}
	for _, c := range k.Classes {
		for _, p := range c.Pods {
			if b := byName[p.Nominated]; p.Promised && b != nil {
				out[p.Key] = b
			}
			if b := byName[p.Planned]; b != nil {
				out[p.Key] = b
			}
		}
	}
	return out
}

// usurped reports whether a pod has no place while one of lower priority kept its own.
func (k *Packer) usurped() bool {
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
func (k *Packer) fairer(other *Packer) bool {
	priorities := func(k *Packer) []int32 {
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
