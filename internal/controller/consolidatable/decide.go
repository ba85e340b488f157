// Package consolidatable says on claims and nodes that nothing has come or gone there for so long that they may go themselves.
//
// Nothing is decided by what it says: the decision to give a node back is made
// from the state of the cluster. It is for people, and for other programs.
package consolidatable

import (
	"time"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/world"
)

// State is what the conditions of one machine are made from.
type State struct {
	Claim, Node string
	// Since is when a pod last came or went. What was written before is written again then.
	Since int64
	// Consolidatable: no pod has come or gone for as long as its NodePool wants.
	Consolidatable bool
	// Empty: it runs nothing, and its Provisioner gives empty nodes back after TTL.
	Empty bool
	TTL   time.Duration
}

// States returns what is to be said of every machine that is in use, by the
// names of the claims, and when that changes although nothing happens; zero for never.
func States(w *world.World) (states map[string]State, again int64) {
	states = map[string]State{}
	for _, p := range w.Places() {
		pool := w.Pool(p.Pool())
		if pool == nil || p.Node == nil || p.Claim == nil || !p.Claim.Initialized || p.Deleting() {
			continue
		}
		s := State{Claim: p.Claim.Name, Node: p.Node.Name, Since: hold.LastPodChange(p.Claim)}
		after := pool.Disruption.EmptyAfter
		switch {
		case after == nil || pool.Replicas != nil:
		case pool.ID.Kind == world.Provisioner:
			s.TTL = time.Duration(*after) * time.Second
			s.Empty = pool.Disruption.MoveAfter == nil && hold.IsEmpty(p)
		default:
			due := s.Since + *after
			s.Consolidatable = due <= w.At()
			if !s.Consolidatable && (again == 0 || due < again) {
				again = due
			}
		}
		states[s.Claim] = s
	}
	return states, again
}
