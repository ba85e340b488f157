// Package disrupt decides which machines to give back.
//
// Decide makes one plan of commands: machines that go together, why, what is
// bought for their pods, and what is to be done about it now. Each way of giving
// back has a file: empty.go what runs nothing, expire.go what has grown too old,
// drift.go what is no longer what its pool asks for, consolidate.go what could
// go although pods run there. judge.go says how commands stand that have begun.
//
// What has begun is read from the objects of the cluster, and so is what it is
// for: package begun reads it from the World. What keeps machines is package hold,
// the search for what costs less is package consolidate.
package disrupt

import (
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Decide returns what is to be done about machines that could be given back, and, if all is decided, why every
// other one stays.
func Decide(w *world.World, o Options) plan.Plan {
	d := newDecision(w, o)
	for _, part := range []struct {
		name   Part
		decide func() bool // reports whether it was looked at
	}{{Judging, d.judge}, {Idling, d.idle}, {Replacing, d.replace}, {Consolidating, d.consolidate}} {
		if o.decides(part.name) {
			if part.decide() && o.Done != nil {
				o.Done(part.name)
			}
		}
	}
	return d.plan
}
