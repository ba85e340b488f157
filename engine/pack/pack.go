// Package pack puts waiting pods onto machines that are there, on their way, or to be bought.
package pack

import (
	"github.com/tenon-sh/tenon/engine/menu"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/world"
)

// Pack decides where the waiting pods of w go.
//
// One packing is made and mended by pack, in steps.go. It is made again where
// that is fairer, and for few pods once more without the search, and the better
// counts: by then nothing makes either cheaper. What is done with the one that
// is left changes no price: pods are dispersed, what no rule allows is expelled,
// and finish, in finish.go, writes menus and refusals.
func Pack(w *world.World, o packing.Options) plan.Plan {
	k := fairly(w, o)
	k.bound = k.Bound()
	if !o.ExactOnly && k.Waiting <= exactTierMaxPods {
		k = k.orExact()
	}
	if o.ProveSpend {
		k.spend = max(k.SpendBound(), k.bound)
	}
	k.repair.Disperse()
	k.expel()
	return k.finish()
}

// fairly packs the pods, and again strictly by priority if that is fairer.
func fairly(w *world.World, o packing.Options) *packer {
	strict := ordering{strictly: true}
	k := pack(w, o, ordering{})
	switch {
	case k.unfair():
		return pack(w, o, strict).retryIsolatedFirst(strict)
	case k.keptAhead():
		if e := pack(w, o, strict); e.fairer(k) {
			return e.retryIsolatedFirst(strict)
		}
	}
	return k.retryIsolatedFirst(ordering{})
}

// exactTierMaxPods is how many pods are also placed one by one, in case that comes out cheaper.
const exactTierMaxPods = 200

// orExact returns the packing of the exact tier alone if that is better.
func (k *packer) orExact() *packer {
	o := k.Options
	o.ExactOnly = true
	e := fairly(k.World, o)
	if len(e.Unplaced) > len(k.Unplaced) || len(e.Unplaced) == len(k.Unplaced) && !k.cheaper(e) {
		return k
	}
	e.bound, e.Steps = e.Bound(), e.Steps+k.Steps
	return e
}

// cheaper reports whether the plan will count on less with e, at a price that is to be borne for the sake of fewer machines.
func (k *packer) cheaper(e *packer) bool {
	mine, its := k.overbooked(), e.overbooked()
	price, most := packing.Price(e.Packing)-its, max(packing.Price(k.Packing)-mine, solve.PriceCeiling(k.bound))
	bearable := price <= most || k.Market.Charged // what pools say themselves is part of what is to be borne
	return packing.Spend(e.Packing)-its < packing.Spend(k.Packing)-mine && (k.Waiting > solve.SmallProblem || bearable)
}

// overbooked is by how much the machines are booked above what the plan will
// count on: under minValues and limits the largest type of a menu is booked, and the cheapest expected.
func (k *packer) overbooked() money.Micro {
	writer, sum := &menu.Writer{Packing: k.Packing}, money.Micro(0)
	for _, b := range k.Planned {
		sum += k.Market.Offers[b.Offer].Expected - k.Market.Offers[writer.Expected(b)].Expected
	}
	return sum
}
