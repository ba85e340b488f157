package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/world"
)

// keep puts pods where the last plan had them, as far as they may still go
// there. A plan that is being carried out is not made anew: its machines were
// chosen for just these pods, and other ways to fill them would leave some over.
func (k *Packer) keep() {
	meant := k.meant()
	if len(meant) == 0 {
		return
	}
	var homeless, kept []*waiting
	for _, x := range k.left {
		if meant[x.pod.Key] == nil {
			homeless = append(homeless, x)
		} else {
			kept = append(kept, x)
		}
	}
	// Some can only go once others are there.
	for again := true; again; {
		again = false
		var rest []*waiting
		for _, x := range kept {
			if b := meant[x.pod.Key]; k.accepts(b, x) || k.awaits(b, x) {
				k.join(b, x)
				x.kept, again = true, true
				continue
			}
			rest = append(rest, x)
		}
		kept = rest
	}
	k.left = append(homeless, kept...)
}

// awaits reports whether the bin's machine is out of reach only just now and would take the pod once it is back.
func (k *Packer) awaits(b *bin, x *waiting) bool {
	back, blinks := fit.Blinks(b.machine, b.place, k.world.At())
	return blinks && !b.shut && market.Fits(x.class.need, b.free) && fit.Stands(x.pod, back) && k.ledger.Allows(x.class.subject, b.node) && extras(x.pod, b.place)
}

// meant is where the last plan had pods. Who remembers no plan finds it in what
// claims tell and pods were promised.
func (k *Packer) meant() map[world.Key]*bin {
	out := map[world.Key]*bin{}
	byName := map[string]*bin{}
	for _, b := range k.old {
		if b.place.Deleting {
			continue
		}
		byName[b.place.Name] = b
		if c := b.machine.Claim; c != nil {
			byName[c.Name] = b
			for _, key := range c.Pods {
				out[key] = b
			}
		}
	}
	for _, c := range k.classes {
		for _, p := range c.pods {
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
	for _, x := range k.left {
		for i := range k.stands(x.class.sig).All {
			if slices.ContainsFunc(k.old[i].pods, func(y *waiting) bool { return y.kept && y.pod.Priority < x.pod.Priority }) {
				return true
			}
		}
	}
	return false
}

// fairer reports whether fewer pods are left than there are in other, those of the highest priority first.
func (k *Packer) fairer(other *Packer) bool {
	priorities := func(k *Packer) []int32 {
		out := make([]int32, len(k.left))
		for i, x := range k.left {
			out[i] = -x.pod.Priority
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
