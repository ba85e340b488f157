// Package disrupt has machines given back that are no longer needed, or whose pods run cheaper or better elsewhere.
//
// What is to be done is decided in engine/disrupt; this carries it out. A node
// that goes by choice is marked first, so that no pod comes to it any more. What
// is bought for its pods says so on its claim. Only when all that is complete,
// and the node is still to go, does its claim end. Marks are objects' own, so a
// controller that starts again goes on or takes them back.
package disrupt

import (
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// settle is how soon to look again after a step.
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
	Begun  bool   // it is of a command that moves pods, which was begun before
	Bought bool   // machines were bought for its pods
	Many   bool   // others go with it
	First  bool   // it is the first of its command
}

// Steps are what a plan has done about what has begun and what is empty or too
// old, and how long until the next step is due.
func Steps(w *world.World, p plan.Plan) (steps []Step, wait time.Duration) {
	for _, c := range p.Commands {
		if !c.Begun && !c.Idle() {
			continue // it is new
		}
		steps = append(steps, of(w, c)...)
		wait = soonest(wait, time.Duration(c.Again)*time.Millisecond)
	}
	for _, s := range p.Spare {
		kind := Return
		if s.Used {
			kind = Adopt
		}
		steps = append(steps, Step{Kind: kind, Claim: s.Claim})
	}
	return steps, wait
}

// of are the steps of one command.
func of(w *world.World, c plan.Command) (out []Step) {
	var kind Kind
	switch c.Verdict {
	case plan.Begin:
		kind = Mark
	case plan.CarryOn:
		kind = End
	case plan.TakeBack:
		kind = Unmark
	default:
		return awaiting(w, c)
	}
	for i, g := range c.Back {
		s := Step{Kind: kind, Claim: g.Claim, Node: g.Node, Reason: c.Reason, Begun: !c.Idle() && c.Reason != "", Bought: len(c.Bought) > 0, Many: len(c.Back) > 1, First: i == 0}
		if kind == Unmark {
			s.Why = c.Why.Line()
		}
		out = append(out, s)
	}
	return out
}

// awaiting are the machines that a command waits for.
func awaiting(w *world.World, c plan.Command) (out []Step) {
	for _, name := range c.Bought {
		p := placeOf(w, name)
		if p == nil || p.Whole() {
			continue
		}
		s := Step{Kind: Await, Claim: name, Reason: c.Reason}
		if p.Node != nil {
			s.Node = p.Node.Name
		}
		out = append(out, s)
	}
	return out
}

// placeOf is the machine of a claim.
func placeOf(w *world.World, claim string) *world.Place {
	for _, p := range w.Places() {
		if p.Claim != nil && p.Claim.Name == claim {
			return p
		}
	}
	return nil
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

// soonest is the shorter of two waits; zero is for ever.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// kindOf is what metrics call a consolidation of so many machines.
func kindOf(reason string, many bool) string {
	switch {
	case reason != plan.Underutilized:
		return ""
	case many:
		return "multi"
	}
	return "single"
}

// decisionOf is what metrics call a decision.
func decisionOf(bought bool) string {
	if bought {
		return "replace"
	}
	return "delete"
}

// lower is a reason as metrics and logs have it.
func lower(reason string) string { return strings.ToLower(reason) }
