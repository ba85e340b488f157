// Package disrupt has machines given back that are no longer needed, or whose pods run cheaper or better elsewhere.
//
// A node that goes by choice is marked first, so that no pod comes to it any
// more. What is bought for its pods says so on its claim. Only when all that is
// complete, and the node is still to go, does its claim end. Marks are objects'
// own, so a controller that starts anew goes on or takes them back.
package disrupt

import (
	"slices"
	"time"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// settle is how long a node is marked before its claim ends: pods that were
// bound before the mark was seen show up in this time.
const settle = 2 * time.Second

// Kind is what is done to a machine.
type Kind string

// The kinds of step.
const (
	Mark   Kind = "mark"   // keep new pods away
	End    Kind = "end"    // end its claim
	Unmark Kind = "unmark" // it stays after all
	Await  Kind = "await"  // it was bought, and others wait until it is complete
	Return Kind = "return" // it was bought, and is not needed after all
	Adopt  Kind = "adopt"  // it was bought, and is needed for other pods now
)

// Step is what is done to one machine.
type Step struct {
	Kind   Kind
	Claim  string
	Node   string
	Reason string
	Why    string // it stays, of a machine whose pods were to move
	Begun  bool   // it is of a command, which was begun before
	Bought bool   // machines were bought for its pods
	Many   bool   // others go with it
}

// Next returns the steps towards a plan, given since when this process knows
// each node to be marked, and how long until the next step is due.
func Next(w *world.World, p plan.Plan, marked map[string]time.Time, now time.Time) (steps []Step, wait time.Duration) {
	back := map[string]bool{}
	for _, g := range p.Back {
		back[g.Node] = true
		since, known := marked[g.Node]
		switch {
		case g.Reason == plan.Expired || g.Node == "":
			steps = append(steps, Step{Kind: End, Claim: g.Claim, Node: g.Node, Reason: g.Reason})
		case !isMarked(w.Place(g.Node)):
			steps = append(steps, Step{Kind: Mark, Claim: g.Claim, Node: g.Node, Reason: g.Reason})
		case known && now.Sub(since) >= settle:
			steps = append(steps, Step{Kind: End, Claim: g.Claim, Node: g.Node, Reason: g.Reason})
		case known:
			wait = soonest(wait, settle-now.Sub(since))
		default:
			wait = soonest(wait, settle) // marked before we started, or just seen
		}
	}
	for _, place := range w.Places() {
		if place.Node != nil && place.Claim != nil && !place.Deleting() && !back[place.Node.Name] && isMarked(place) && !disrupt.Intended(place) {
			steps = append(steps, Step{Kind: Unmark, Claim: place.Claim.Name, Node: place.Node.Name})
		}
	}
	return steps, wait
}

// eligible counts the machines that run nothing and might be given back.
func eligible(w *world.World) int {
	n := 0
	for _, p := range w.Places() {
		if p.Node != nil && p.Claim != nil && p.Claim.Initialized && !p.Deleting() && hold.IsEmpty(p) {
			n++
		}
	}
	return n
}

func isMarked(p *world.Place) bool {
	return p != nil && p.Node != nil && slices.ContainsFunc(p.Node.Taints, func(t world.Taint) bool {
		return t.Key == v1.TaintDisrupted && t.Effect == world.NoSchedule
	})
}

// soonest is the shorter of two waits; zero is for ever.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
