package packing

import (
	"slices"
)

// Mark is a moment to which Undo goes back.
type Mark int

// Mark returns the moment that is now. What is done from now on is noted, until
// this mark and those set after it have been undone or committed.
func (k *Packing) Mark() Mark {
	k.marks++
	return Mark(len(k.trail))
}

// Commit lets stand what was done since the mark.
func (k *Packing) Commit(Mark) {
	if k.marks--; k.marks == 0 {
		clear(k.trail)
		k.trail, k.rooms = k.trail[:0], k.rooms[:0]
	}
}

// Undo takes back all that was done since the mark. Marks are undone or committed in
// the reverse of the order in which they were set.
func (k *Packing) Undo(to Mark) {
	for _, c := range slices.Backward(k.trail[to:]) {
		c.undo(k)
		k.rooms = k.rooms[:c.room]
	}
	clear(k.trail[to:])
	k.trail = k.trail[:to]
	k.Full.Forget()
	k.Commit(to)
}

// Joined are the pods that joined a bin since the mark, in that order.
func (k *Packing) Joined(since Mark) []*Pod {
	var out []*Pod
	for _, c := range k.trail[since:] {
		if c.kind == joined {
			out = append(out, c.pod)
		}
	}
	return out
}

// undo takes the change back. What was done after it has been taken back before.
func (c *change) undo(k *Packing) {
	if c.bin != nil {
		touch(k, c.bin)
	}
	switch c.kind {
	case bought, dropped, givenBack, boughtAgain, handedOver:
		c.undoPlanned(k)
	case takenAway, putBack, counted, uncounted, closed:
		c.undoAway(k)
	case joined, left, turned, moved:
		c.undoPods(k)
	}
}

// undoPods takes back what was done to the pods of a bin, or to a bin with its pods.
func (c *change) undoPods(k *Packing) {
	b := c.bin
	switch c.kind {
	case joined:
		c.pod.Bin = nil
		b.Pods = slices.DeleteFunc(b.Pods, func(y *Pod) bool { return y == c.pod })
		k.Ledger.Take(c.pod.Class.PodInfo, b.Node)
	case left:
		c.pod.Bin = b
		b.Pods = slices.Insert(b.Pods, c.at, c.pod)
		k.Ledger.Put(c.pod.Class.PodInfo, b.Node)
	case moved:
		k.Ledger.Leave(b.Node)
		k.Ledger.Return(c.node)
		fallthrough
	default:
		k.Market.Charge(b.Offer, -1)
		k.Market.Charge(c.planned.offer, 1)
	}
	copy(b.Free, k.rooms[c.room:])
	b.Node = c.node
	if c.place != nil {
		*b.Place = *c.place
	}
	if p := c.planned; p != nil {
		copy(b.Used, p.used)
		b.Allowed, b.Pinned, b.Offer = p.allowed, p.pinned, p.offer
	}
}

// undoPlanned takes back that a machine was bought or given back.
func (c *change) undoPlanned(k *Packing) {
	b := c.bin
	switch c.kind {
	case bought:
		drop(k, b)
		delete(k.taken, b.Place.Name)
		k.Market.Offers[b.Offer].Type.Pool.Named--
	case dropped:
		retake(k, b)
		k.Planned = slices.Insert(k.Planned, c.at, b)
		renumber(k)
	case givenBack:
		retake(k, b)
	case boughtAgain:
		giveBack(k, b)
		b.Node, b.Closed = c.node, c.closed
	case handedOver:
		k.Planned = c.bins
		renumber(k)
	}
}

// undoAway takes back what was done to a machine as a whole.
func (c *change) undoAway(k *Packing) {
	b := c.bin
	switch c.kind {
	case takenAway:
		putIn(k, b, c.with)
	case putBack:
		takeAway(k, b, c.with)
	case counted:
		c.pod.Counted = false
		k.Ledger.Take(c.pod.Class.PodInfo, b.Node)
	case uncounted:
		c.pod.Counted = true
		k.Ledger.Put(c.pod.Class.PodInfo, b.Node)
	case closed:
		b.Closed = c.closed
	}
}
