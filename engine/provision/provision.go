// Package provision decides what to buy for the pods that wait.
package provision

import (
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Options are what a caller may choose. The zero value works. Prices are not
// among them: what something costs, or would, is said by the World, and what if it
// cost something else is asked of another World.
type Options = pack.Options

// Decide returns where the waiting pods of w should run and what to buy for
// them. What cannot be done is a refusal in the plan.
func Decide(w *world.World, o Options) plan.Plan { return pack.Pack(w, o) }
