package packing

import (
	"math"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Misfit is a pod where a rule of package fit refuses it, and what the rules have against it there.
type Misfit struct {
	Pod *Pod
	Why []*reason.Why
}

// Misfits are the pods that rules of package fit refuse where they are. Nothing is
// taken from what placed them: not which offers meet their demands, and not what
// is free on a machine by dimension.
func Misfits(k *Packing) []Misfit {
	a := audit{packing: k, bought: map[demanded]bool{}}
	for _, b := range k.Existing {
		if len(b.Pods) > 0 {
			a.bin(b, fit.Of(k.World, b.Machine))
		}
	}
	for _, b := range k.Planned {
		a.bin(b, *k.Market.At(b.Offer))
	}
	return a.found
}

// audit asks the rules of package fit about every pod of a packing, as few times as will do.
type audit struct {
	packing *Packing
	bought  map[demanded]bool // which offers may have pods with which demands
	found   []Misfit
	free    amount.List // room to work in
}

// demanded are demands on a machine that is bought by an offer.
type demanded struct {
	demands *Demands
	offer   int
}

// bin fills the place of a bin with its pods, one class after the other.
func (a *audit) bin(b *Bin, as fit.Place) {
	at := &as
	a.free = append(a.free[:0], at.Free...)
	at.Free = a.free
	for c, pods := range ByClass(b.Pods) {
		stands := a.stands(b, c, at)
		if stands && !c.Special && fillWith(at, c.Pod.Requests, len(pods)) {
			continue
		}
		for _, x := range pods {
			may := stands || x.Kept && standsOnceBack(a.packing.World, b, at, x.Pod)
			if !x.Held && (!may || !fit.Fills(x.Pod, at)) {
				a.found = append(a.found, Misfit{x, fit.Objections(x.Pod, at)})
				continue
			}
			at.Put(x.Pod)
		}
	}
}

// stands reports whether no standing rule has anything against pods of the class at the place of the bin.
func (a *audit) stands(b *Bin, c *Class, at *fit.Place) bool {
	if b.Machine != nil {
		return fit.Stands(c.Pod, at)
	}
	if c.Demands.Open { // it depends on the others there
		ok := fit.Stands(c.Pod, at)
		at.Narrow(c.Pod)
		return ok
	}
	key := demanded{c.Demands, b.Offer}
	ok, known := a.bought[key]
	if !known {
		ok = fit.Stands(c.Pod, at)
		a.bought[key] = ok
	}
	return ok
}

// standsOnceBack reports whether the bin's machine is out of reach only just now and no standing rule refuses the pod once it is back.
func standsOnceBack(w *world.World, b *Bin, at *fit.Place, p *world.Pod) bool {
	if b.Machine == nil {
		return false
	}
	back, blinks := fit.Blinks(b.Machine, at, w.At())
	return blinks && fit.Stands(p, back)
}

// fillWith takes room for so many pods alike off what is free, if there is as much.
func fillWith(at *fit.Place, requests amount.List, n int) bool {
	fits := int64(math.MaxInt64)
	for _, e := range requests {
		if e.Value > 0 {
			fits = min(fits, at.Free.Value(e.Name)/e.Value)
		}
	}
	if fits < int64(n) {
		return false
	}
	for _, e := range requests {
		for i := range at.Free {
			if at.Free[i].Name == e.Name {
				at.Free[i].Value -= e.Value * int64(n)
			}
		}
	}
	return true
}
