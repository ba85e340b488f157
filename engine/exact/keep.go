package exact

import (
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/world"
)

// Keep puts pods where the last plan had them, as far as they may still go
// there. A plan that is being carried out is not made anew: its machines were
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
	k.Unplaced = append(unplaced, kept...)
}

// awaits reports whether the bin's machine is out of reach only just now and would take the pod once it is back.
func (k *Placer) awaits(b *packing.Bin, x *packing.Pod) bool {
	back, blinks := fit.Blinks(b.Machine, b.Place, k.World.At())
	return blinks && !b.Closed && market.Fits(x.Class.Need, b.Free) && fit.Stands(x.Pod, back) && k.Ledger.Allows(x.Class.Subject, b.Node) && fit.FillsBesideRoom(x.Pod, b.Place)
}

// lastPlaces is where the last plan had pods. Where no plan is remembered it is found in what
// claims tell and pods were promised.
func (k *Placer) lastPlaces() map[world.Key]*packing.Bin {
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
