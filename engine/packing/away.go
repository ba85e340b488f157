package packing

import (
	"github.com/tenon-sh/tenon/engine/world"
)

// GiveBack takes a planned machine that holds no pods off the ledger and the limits. It can be bought again.
func (k *Packing) GiveBack(b *Bin) {
	k.Ledger.Leave(b.Node)
	k.Market.Charge(b.Offer, -1)
}

// BuyAgain buys a machine that was given back.
func (k *Packing) BuyAgain(b *Bin) {
	b.Node, b.Closed = k.Ledger.Enter(b.Place), false
	k.Market.Charge(b.Offer, 1)
}

// TakeAway supposes that a machine is gone, with the pods of it that go as well.
func (k *Packing) TakeAway(b *Bin, with []*world.Pod) {
	for _, p := range with {
		k.Ledger.Stop(p, b.Node)
	}
	k.Ledger.Vacate(b.Node)
}

// PutBack ends that.
func (k *Packing) PutBack(b *Bin, with []*world.Pod) {
	k.Ledger.Occupy(b.Node)
	for _, p := range with {
		k.Ledger.Run(p, b.Node)
	}
}

// CountOn counts a pod without a place as running on the machine, for others to be spread and kept apart; it takes no room.
func (k *Packing) CountOn(b *Bin, x *Pod) { k.Ledger.Put(x.Class.Subject, b.Node) }

// Uncount ends that.
func (k *Packing) Uncount(b *Bin, x *Pod) { k.Ledger.Take(x.Class.Subject, b.Node) }
