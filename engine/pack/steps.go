package pack

import (
	"github.com/tenon-sh/tenon/engine/exact"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/repair"
	"github.com/tenon-sh/tenon/engine/search"
	"github.com/tenon-sh/tenon/engine/world"
)

// packer makes one packing, step by step.
type packer struct {
	*search.Searcher
	repair  *repair.Repairer
	refused []plan.Refusal
	bound   money.Micro
	spend   money.Micro // the bound of price and charge
}

// ordering is how pods take their turns.
type ordering struct {
	strictly      bool // all of a priority before those of a lower one
	isolatedFirst bool // pods first that keep away from others by domain
}

// expel takes pods off that a rule of package fit refuses where they are, and
// refuses them with what it says: nothing is bought, or promised to a pod, by the
// word of what placed it alone. There are none unless that knows less than the rules.
func (k *packer) expel() {
	misfits := packing.Misfits(k.Packing)
	if len(misfits) == 0 {
		return
	}
	for _, m := range misfits {
		why := &reason.Why{Code: reason.NoPlace, Causes: m.Why}
		k.refused = append(k.refused, plan.Refusal{Pod: m.Pod.Pod.Key, UID: m.Pod.Pod.UID, Why: why})
		k.Remove(m.Pod)
	}
	k.repair.Verify() // others may have counted on them
}

// maxTrimRounds is how often pods without a place are tried again with what trimming gave back to limits.
const maxTrimRounds = 4

// pack makes one packing: it places all pods at once, or those of each priority before those of a lower one, and in each
// first those that keep away from others. Then it is mended: what could not be bound is placed again before and after
// machines become cheaper, as often as that leaves room within limits, and pods change places with those that open later.
func pack(w *world.World, o packing.Options, m ordering) *packer {
	p := &exact.Placer{Packing: packing.New(w, o)}
	k := &packer{Searcher: &search.Searcher{Placer: p}, repair: &repair.Repairer{Placer: p}}
	pods, refused := packing.Admit(w)
	k.refused, k.Waiting = refused, len(pods)+len(refused)
	k.Ready(pods)
	if !m.strictly {
		k.Keep()
	}
	k.Proof = k.NewProof()
	k.Place(m.strictly, m.isolatedFirst)
	k.repair.Verify()
	for range maxTrimRounds {
		changed, before := k.repair.Trim(), len(k.Unplaced)
		k.PlaceEach()
		if !changed && len(k.Unplaced) == before {
			break
		}
		k.repair.Verify()
	}
	k.repair.Exchange()
	return k
}
