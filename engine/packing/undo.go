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
		k.trail = nil
	}
}

// Undo takes back all that was done since the mark. Marks are undone or committed in
// the reverse of the order in which they were set.
func (k *Packing) Undo(to Mark) {
	for _, s := range slices.Backward(k.trail[to:]) {
		s.undo(k)
	}
	k.trail = k.trail[:to]
	for _, c := range k.Classes {
		c.FullExisting, c.FullPlanned = 0, 0
	}
	k.Commit(to)
}

func (s *change) undo(k *Packing) {
	b := s.bin
	switch s.kind {
	case joined:
		s.pod.Bin = nil
		b.Pods = slices.DeleteFunc(b.Pods, func(y *Pod) bool { return y == s.pod })
		k.Ledger.Take(s.pod.Class.Subject, b.Node)
	case left:
		s.pod.Bin = b
		b.Pods = slices.Insert(b.Pods, s.at, s.pod)
		k.Ledger.Put(s.pod.Class.Subject, b.Node)
	case bought:
		drop(k, b)
		delete(k.taken, b.Place.Name)
		k.Market.Offers[b.Offer].Type.Pool.Named--
		return
	case dropped:
		k.Ledger.Return(b.Node)
		k.Market.Charge(b.Offer, 1)
		k.Planned = slices.Insert(k.Planned, s.at, b)
		renumber(k)
		return
	case moved:
		k.Ledger.Leave(b.Node)
		k.Ledger.Return(s.node)
		fallthrough
	case turned:
		k.Market.Charge(b.Offer, -1)
		k.Market.Charge(s.offer, 1)
	}
	copy(b.Free, s.free)
	copy(b.Used, s.used)
	b.Allowed, b.Pinned, *b.Place, b.Offer, b.Node = s.allowed, s.pinned, s.place, s.offer, s.node
}
