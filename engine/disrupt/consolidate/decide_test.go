package consolidate_test

import (
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// decide makes the whole decision, of which consolidation is the last part.
func decide(w *world.World, o consolidate.Options) plan.Plan {
	return disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Idling, disrupt.Consolidating}, AsIs: true, Consolidate: o})
}

// idle are the machines of a plan that go as they are.
func idle(p plan.Plan) (out []plan.Give) {
	for _, c := range p.Commands {
		if c.Idle() {
			out = append(out, c.Back...)
		}
	}
	return out
}

// moving are the commands of a plan that move pods.
func moving(p plan.Plan) (out []plan.Command) {
	for _, c := range p.Commands {
		if !c.Idle() {
			out = append(out, c)
		}
	}
	return out
}
