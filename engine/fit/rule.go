package fit

import (
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Rule is one reason for which a place may be refused. Why is all that a rule
// has to have to be kept everywhere; the rest saves time.
type Rule struct {
	Name string

	// Why is what the rule has against the pod at the place; nil if nothing.
	Why func(p *world.Pod, at *Place) *reason.Why

	// Allows reports whether Why is nil. Without it Why is asked.
	Allows func(p *world.Pod, at *Place) bool

	// Concerns reports whether the rule may refuse the pod any place. Without it, it may refuse every pod.
	Concerns func(p *world.Pod) bool

	// Identity appends what of the pod the answer depends on, in a way that no
	// two demands read alike. Without it no two pods that it concerns are of one class.
	Identity func(b []byte, p *world.Pod) []byte

	// Compiled says that packages market and packing know the answer without
	// asking: from labels, taints, and what is counted as room. Of other rules
	// they ask every place, and pods that these concern are placed one by one.
	Compiled bool
}

// concerns reports whether the rule may refuse the pod any place.
func (r *Rule) concerns(p *world.Pod) bool { return r.Concerns == nil || r.Concerns(p) }

// Permits reports whether the rule has nothing against the pod at the place.
func (r *Rule) Permits(p *world.Pod, at *Place) bool {
	switch {
	case !r.concerns(p):
		return true
	case r.Allows != nil:
		return r.Allows(p, at)
	}
	return r.Why(p, at) == nil
}

// Objection is what the rule has against the pod at the place; nil if nothing.
func (r *Rule) Objection(p *world.Pod, at *Place) *reason.Why {
	if !r.concerns(p) {
		return nil
	}
	return r.Why(p, at)
}

// appendIdentity appends what of the pod the rule looks at.
func (r *Rule) appendIdentity(b []byte, p *world.Pod) []byte {
	switch {
	case r.Identity != nil:
		return r.Identity(b, p)
	case !r.concerns(p):
		return append(b, 0)
	}
	return label.AppendText(label.AppendText(append(b, 1), p.Namespace), p.Name)
}
