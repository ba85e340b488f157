// Package provision has capacity asked for when pods wait for it.
package provision

import (
	"time"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
)

// Batch says how long to wait for more pods before a decision is made.
type Batch struct {
	Idle time.Duration // since the last pod that came
	Max  time.Duration // since the first
}

// Window is the time in which pods for one decision are gathered. The zero Window is closed.
type Window struct{ First, Last time.Time }

// Open reports whether something waits for a decision.
func (w Window) Open() bool { return !w.First.IsZero() }

// Add notes that something came at now.
func (w Window) Add(now time.Time) Window {
	if !w.Open() {
		w.First = now
	}
	w.Last = now
	return w
}

// Due is when the decision is to be made.
func (w Window) Due(b Batch) time.Time {
	idle, most := w.Last.Add(b.Idle), w.First.Add(b.Max)
	if most.Before(idle) {
		return most
	}
	return idle
}

// Trigger says whether a change may lead to another decision. A pod does so
// when it starts to wait or waits for something else than before; what happens
// to machines, pools and prices does so while pods wait.
type Trigger string

// The triggers.
const (
	Never     Trigger = "never"
	Always    Trigger = "always"
	IfWaits   Trigger = "if pods wait"
	IfBuffers Trigger = "if room is held for pods to come"
)

// TriggerOf judges a change.
func TriggerOf(c cluster.Change) Trigger {
	switch c.Kind {
	case cluster.Pod:
		switch {
		case c.Is == nil || !c.Is.Waiting:
			if node(c.Was) != node(c.Is) {
				return IfBuffers // it takes room that was held, or leaves some
			}
			return Never
		case c.Was == nil || !c.Was.Waiting || c.Was.UID != c.Is.UID || len(c.Was.Problems) != len(c.Is.Problems):
			return Always
		}
		return Never
	case cluster.Node, cluster.Claim, cluster.Buffer:
		// A machine that goes may leave pods without a place.
		return Always
	case cluster.Pool, cluster.Catalog, cluster.Other: // what was learnt of purchases was learnt while deciding, or keeps some from being made
		return IfWaits
	}
	return Never
}

// node is where a pod takes room; "" if it takes none.
func node(p *world.Pod) string {
	if p == nil || p.Done {
		return ""
	}
	return p.Node
}

// Needed reports whether there is anything to decide about in a World: pods
// that wait, or pods whose machine is going.
func Needed(w *world.World) bool {
	for _, p := range w.Waiting() {
		if p.Waiting {
			return true
		}
	}
	for _, p := range w.Places() {
		if p.Deleting() && len(p.Pods) > 0 {
			return true
		}
	}
	return false
}
