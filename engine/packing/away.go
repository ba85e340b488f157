package packing

import (
	"github.com/tenon-sh/tenon/engine/world"
)

// GiveBack takes a planned machine that holds no pods off the ledger and the limits. It can be bought again.
func (k *Packing) GiveBack(b *Bin) {
	note(k, givenBack, b, nil)
	giveBack(k, b)
}

// BuyAgain buys a machine that was given back.
func (k *Packing) BuyAgain(b *Bin) {
	note(k, boughtAgain, b, nil)
	b.Node, b.Closed, b.Away = k.Ledger.Enter(b.Place), false, false
	k.Market.Charge(b.Offer, 1)
}

// HandOver returns the machines that are planned so far and closes them. They stay
// bought, but are no longer among the planned ones.
func (k *Packing) HandOver() []*Bin {
	noteHandover(k)
	out := k.Planned
	k.Planned = nil
	for _, b := range out {
		k.Close(b)
	}
	return out
}

// Close keeps pods from being put on the machine from now on.
func (k *Packing) Close(b *Bin) {
	note(k, closed, b, nil)
	b.Closed = true
}

// Open ends that.
func (k *Packing) Open(b *Bin) {
	note(k, closed, b, nil)
	b.Closed = false
}

// TakeAway supposes that a machine is gone, with the pods of it that go as well.
func (k *Packing) TakeAway(b *Bin, with []*world.Pod) {
	noteWith(k, takenAway, b, with)
	takeAway(k, b, with)
}

// PutBack ends that.
func (k *Packing) PutBack(b *Bin, with []*world.Pod) {
	noteWith(k, putBack, b, with)
	putIn(k, b, with)
}

// CountOn counts a pod without a place as running on the machine, for others to be spread and kept apart; it takes no room.
func (k *Packing) CountOn(b *Bin, x *Pod) {
	note(k, counted, b, x)
	x.Counted = true
	k.Ledger.Put(x.Class.PodInfo, b.Node)
}

// Uncount ends that.
func (k *Packing) Uncount(b *Bin, x *Pod) {
	note(k, uncounted, b, x)
	x.Counted = false
	k.Ledger.Take(x.Class.PodInfo, b.Node)
}
