// Package repair mends a packing once all pods have been placed: what cannot be bound is placed again, and machines become cheaper ones.
package repair

import (
	"github.com/tenon-sh/tenon/engine/exact"
)

// Repairer mends a packing once all pods have been placed: package pack says in which order.
//
// A move is tried, and taken back unless it is one: after a Mark, pods Leave their bins (or are Detached, where
// it does not matter who might find room there now) and Join others that each Accepts them and is Modest, and bins
// Turn into other offers, or are Dropped once they are empty. It stands, by Commit, if the packing is Bindable and its
// Spend, of which what is given up is part, is less; else Undo has all be as it was. merge, in gather.go, is such a one.
//
// A bin that accepts a pod need not be one for it: machines of exotic types are for pods that need them, and those of
// a pool that comes later, by Precedence, for what those before it do not sell.
type Repairer struct {
	*exact.Placer
	tries int // that trySingly has left
}
