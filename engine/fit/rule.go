package fit

import (
	"encoding/binary"
	"slices"

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

	// Within reports whether some place of the World may have what the rule looks at. Without it, each World may. In others
	// the rule is not asked which pods it concerns and tells none apart: one that concerns all pods needs it.
	Within func(w *world.World) bool

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

// none is the identity of a rule to which all pods are alike, or whose demands are in the identity of another rule.
func none(b []byte, _ *world.Pod) []byte { return b }

func appendTolerations(b []byte, p *world.Pod) []byte { return AppendTolerations(b, p.Tolerations) }

// appendReach appends from where the pod's volumes are reached.
func appendReach(b []byte, p *world.Pod) []byte {
	for _, v := range p.Volumes {
		if len(v.Places) == 0 {
			continue // reached from everywhere
		}
		b = binary.AppendUvarint(b, uint64(len(v.Places)))
		for _, s := range v.Places {
			b = s.AppendIdentity(b)
		}
	}
	return append(b, 0)
}

// AppendSelection appends a text that two pods share only if they select the same machines by label and name.
func AppendSelection(b []byte, p *world.Pod) []byte {
	b = p.NodeSelector.AppendIdentity(b)
	b = binary.AppendUvarint(b, uint64(len(p.NodeTerms)))
	for _, t := range p.NodeTerms {
		b = AppendTerm(b, t)
	}
	return b
}

// AppendTolerations appends a text that only equal tolerations share.
func AppendTolerations(b []byte, ts []world.Toleration) []byte {
	b = binary.AppendUvarint(b, uint64(len(ts)))
	for _, t := range ts {
		b = label.AppendText(label.AppendText(label.AppendText(b, t.Key), t.Value), t.Effect)
		b = label.AppendFlags(b, t.Exists)
	}
	return b
}

// AppendTerm appends a text that only equal terms share.
func AppendTerm(b []byte, t world.NodeTerm) []byte {
	b = t.Labels.AppendIdentity(b)
	b = label.AppendFlags(b, t.Name != nil)
	if t.Name != nil {
		b = t.Name.AppendIdentity(b)
	}
	return b
}

// Rules are those that may refuse a pod a place in one World, and tell its pods apart.
type Rules struct{ standing, filling []*Rule }

func within(w *world.World, rules []*Rule) []*Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r *Rule) bool { return r.Within != nil && !r.Within(w) })
}

// Uncompiled are the standing rules that concern the pod and of which every place has to be asked.
func (r *Rules) Uncompiled(p *world.Pod) []*Rule {
	var out []*Rule
	for _, x := range r.standing {
		if !x.Compiled && x.concerns(p) {
			out = append(out, x)
		}
	}
	return out
}

// Counted reports whether what the pod takes of a machine is counted as room, so
// far as ports and volumes are: no other filling rule concerns it.
func (r *Rules) Counted(p *world.Pod) bool {
	return !slices.ContainsFunc(r.filling, func(x *Rule) bool { return !x.Compiled && x.concerns(p) })
}

// AppendIdentity appends a text that two pods share only if no standing rule, and
// none on what is not counted, tells them apart. Every part says how long it is,
// so that different demands never read alike.
func (r *Rules) AppendIdentity(b []byte, p *world.Pod) []byte {
	for _, x := range r.standing {
		b = x.appendIdentity(b, p)
	}
	for _, x := range r.filling {
		if !x.Compiled {
			b = x.appendIdentity(b, p)
		}
	}
	return b
}
