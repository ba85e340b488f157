package packing

import (
	"slices"
)

func drop(k *Packing, b *Bin) {
	k.Ledger.Leave(b.Node)
	k.Market.Charge(b.Offer, -1)
	k.Planned = slices.DeleteFunc(k.Planned, func(x *Bin) bool { return x == b })
	renumber(k)
}

// note notes a change that is about to be made, if there is a mark to go back to.
func note(k *Packing, what kind, b *Bin, x *Pod) {
	if k.marks == 0 {
		return
	}
	c := change{
		kind: what, bin: b, pod: x, free: slices.Clone(b.Free), used: slices.Clone(b.Used), allowed: slices.Clone(b.Allowed), pinned: b.Pinned,
		place: *b.Place.Copy(), offer: b.Offer, node: b.Node,
	}
	switch what {
	case left:
		c.at = slices.Index(b.Pods, x)
	case dropped:
		c.at = slices.Index(k.Planned, b)
	}
	k.trail = append(k.trail, c)
}

// renumber gives the planned machines their positions.
func renumber(k *Packing) {
	for i, b := range k.Planned {
		b.Number = i
	}
}
