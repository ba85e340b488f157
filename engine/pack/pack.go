// Package pack puts waiting pods onto machines that are there, on their way, or to be bought.
package pack

import (
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/world"
)

// Pack decides where the waiting pods of w go.
func Pack(w *world.World, o packing.Options) plan.Plan {
	k := fairly(w, o)
	k.bound = k.Bound()
	if !o.ExactOnly && k.Waiting <= exactTierMaxPods {
		k = k.orExact()
	}
	k.repair.Disperse()
	k.expel()
	return k.finish()
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
