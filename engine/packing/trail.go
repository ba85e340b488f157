package packing

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

// note notes a change that is about to be made to a bin, if there is a mark to go back to.
func note(k *Packing, what kind, b *Bin, x *Pod) {
	touch(k, b)
	if k.marks == 0 {
		return
	}
	c := change{kind: what, bin: b, pod: x, room: len(k.rooms), closed: b.Closed, node: b.Node}
	switch what {
	case left:
		c.at = slices.Index(b.Pods, x)
	case dropped:
		c.at = slices.Index(k.Planned, b)
	case takenAway, putBack, counted, uncounted, closed, givenBack, boughtAgain:
		k.trail = append(k.trail, c)
		return
	}
	k.rooms = append(k.rooms, b.Free...)
	if b.Machine == nil {
		c.planned = &planned{slices.Clone(b.Used), slices.Clone(b.Allowed), b.Pinned, b.Offer}
	}
	if b.Machine == nil || x.Class.Special {
		c.place = b.Place.Copy()
	}
	k.trail = append(k.trail, c)
}

// touch counts a change of a bin, and calls Changed.
func touch(k *Packing, b *Bin) {
	b.Changes++
	if k.Changed != nil {
		k.Changed(b)
	}
}

// noteWith notes that a machine is about to be taken away or put back with pods.
func noteWith(k *Packing, what kind, b *Bin, with []*world.Pod) {
	if note(k, what, b, nil); k.marks > 0 {
		k.trail[len(k.trail)-1].with = with
	}
}

// noteHandover notes that the planned machines are about to be handed over.
func noteHandover(k *Packing) {
	if k.marks > 0 {
		k.trail = append(k.trail, change{kind: handedOver, room: len(k.rooms), bins: k.Planned})
	}
}

// drop takes a planned bin out.
func drop(k *Packing, b *Bin) {
	giveBack(k, b)
	k.Planned = slices.DeleteFunc(k.Planned, func(x *Bin) bool { return x == b })
	renumber(k)
}

// giveBack takes a planned bin off the ledger and the limits.
func giveBack(k *Packing, b *Bin) {
	b.Away = true
	k.Ledger.Leave(b.Node)
	k.Market.Charge(b.Offer, -1)
}

// retake undoes that.
func retake(k *Packing, b *Bin) {
	b.Away = false
	k.Ledger.Return(b.Node)
	k.Market.Charge(b.Offer, 1)
}

// takeAway takes a machine and the pods that go with it out of the ledger.
func takeAway(k *Packing, b *Bin, with []*world.Pod) {
	b.Away = true
	for _, p := range with {
		k.Ledger.Stop(p, b.Node)
	}
	k.Ledger.Vacate(b.Node)
}

// putIn undoes that.
func putIn(k *Packing, b *Bin, with []*world.Pod) {
	b.Away = false
	k.Ledger.Occupy(b.Node)
	for _, p := range with {
		k.Ledger.Run(p, b.Node)
	}
}

// renumber gives the planned machines their positions.
func renumber(k *Packing) {
	for i, b := range k.Planned {
		b.Number = i
	}
}
