package exact

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/world"
)

// Keep puts pods where the last plan had them, as far as they may still go
// there. A plan that is being carried out is not made again: its machines were
// chosen for just these pods, and other ways to fill them would leave some over.
func (k *Placer) Keep() {
	meant := k.lastPlaces()
	if len(meant) == 0 {
		return
	}
	var unplaced, kept []*packing.Pod
	for _, x := range k.Unplaced {
		if meant[x.Pod.Key] == nil {
			unplaced = append(unplaced, x)
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
	k.Unplaced = append(unplaced, k.standIn(meant, kept)...)
}

// standIn has pods whose places others took wait for machines that are out of
// reach only just now, and returns the rest. Kube-scheduler does not know what a
// plan means: of pods that are alike it binds any to a machine, and the last one
// waits for whichever machine is left, though that was bought for another.
func (k *Placer) standIn(meant map[world.Key]*packing.Bin, kept []*packing.Pod) []*packing.Pod {
	if len(kept) == 0 {
		return nil
	}
	var away []*packing.Bin
	for _, b := range k.Existing {
		if _, blinks := fit.Blinks(b.Machine, b.Place, k.World.At()); blinks {
			away = append(away, b)
		}
	}
	var rest []*packing.Pod
	for _, x := range kept {
		i := -1
		if fit.Stands(x.Pod, meant[x.Pod.Key].Place) { // it is the others there that keep it away
			i = slices.IndexFunc(away, func(b *packing.Bin) bool { return k.awaits(b, x) })
		}
		if i < 0 {
			rest = append(rest, x)
			continue
		}
		k.Join(away[i], x)
		x.Kept = true
	}
	return rest
}

// awaits reports whether the bin's machine is out of reach only just now and would take the pod once it is back.
func (k *Placer) awaits(b *packing.Bin, x *packing.Pod) bool {
	back, blinks := fit.Blinks(b.Machine, b.Place, k.World.At())
	return blinks && !b.Closed && market.Fits(x.Class.Need, b.Free) && fit.Stands(x.Pod, back) && k.Ledger.Allows(x.Class.PodInfo, b.Node) && fit.FillsBesideRoom(x.Pod, b.Place)
}

// lastPlaces is where the last plan had pods. Where no plan is remembered it is found in what
// claims say and pods were promised.
func (k *Placer) lastPlaces() map[world.Key]*packing.Bin {
	out := map[world.Key]*packing.Bin{}
	for _, b := range k.Existing {
		if c := b.Machine.Claim; c != nil && !b.Place.Deleting {
			for _, key := range c.Pods {
				out[key] = b
			}
		}
	}
	var byName map[string]*packing.Bin
	for _, c := range k.Classes {
		for _, p := range c.Pods {
			if !p.Promised && p.Planned == "" {
				continue
			}
			if byName == nil {
				byName = k.staying()
			}
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

// staying are the machines that do not go away, by their names and those of their claims.
func (k *Placer) staying() map[string]*packing.Bin {
	out := make(map[string]*packing.Bin, len(k.Existing))
	for _, b := range k.Existing {
		if b.Place.Deleting {
			continue
		}
		out[b.Place.Name] = b
		if c := b.Machine.Claim; c != nil {
			out[c.Name] = b
		}
	}
	return out
}
