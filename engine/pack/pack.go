// Package pack puts waiting pods onto machines that are there, on their way, or to be bought.
package pack

import (
	"github.com/tenon-sh/tenon/engine/exact"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/repair"
	"github.com/tenon-sh/tenon/engine/search"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/world"
)

// packer makes one packing, step by step.
type packer struct {
	*search.Searcher
	repair  *repair.Repairer
	refused []plan.Refusal
	bound   int64
}

// maxTrimRounds is how often pods without a place are tried again with what trimming gave back to limits.
const maxTrimRounds = 4

// Pack decides where the waiting pods of w go.
func Pack(w *world.World, o packing.Options) plan.Plan {
	k := fairly(w, o)
	k.bound = k.Bound()
	if !o.ExactOnly && k.Waiting <= exactTierMaxPods {
		k = k.orExact()
	}
	k.repair.Disperse()
	return k.finish()
}

// manner is how pods take their turns.
type manner struct {
	strictly      bool // all of a priority before those of a lower one
	isolatedFirst bool // those first who keep away from others by domain
}

// fairly packs the pods, and again strictly by priority if that is fairer.
func fairly(w *world.World, o packing.Options) *packer {
	strict := manner{strictly: true}
	k := pack(w, o, manner{})
	switch {
	case k.unfair():
		return pack(w, o, strict).retryIsolatedFirst(strict)
	case k.keptAhead():
		if e := pack(w, o, strict); e.fairer(k) {
			return e.retryIsolatedFirst(strict)
		}
	}
	return k.retryIsolatedFirst(manner{})
}

// exactTierMaxPods is how many pods are also placed one by one, in case that comes out cheaper.
const exactTierMaxPods = 200

// orExact returns the packing of the exact tier alone if that is better.
func (k *packer) orExact() *packer {
	o := k.Options
	o.ExactOnly = true
	e := fairly(k.World, o)
	if len(e.Unplaced) > len(k.Unplaced) || len(e.Unplaced) == len(k.Unplaced) && (e.Spend() >= k.Spend() || k.tooDear(e.Price())) {
		return k
	}
	e.bound, e.Steps = e.Bound(), e.Steps+k.Steps
	return e
}

// tooDear reports whether a price is not to be borne for the sake of fewer machines.
func (k *packer) tooDear(price int64) bool {
	return k.Waiting <= solve.Handful && price > max(k.Price(), solve.Bearable(k.bound))
}

// pack places all pods at once, or those of each priority before those of a lower one, and in each those first who keep away from others.
func pack(w *world.World, o packing.Options, m manner) *packer {
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
