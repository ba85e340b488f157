package begun

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

// Mark is what a node carries that is to go, so that no pod comes to it any more.
func Mark() world.Taint {
	return world.Taint{Key: "karpenter.sh/disrupted", Effect: world.NoSchedule}
}

// Marked reports whether a node carries Mark.
func Marked(p *world.Place) bool {
	return p != nil && p.Node != nil && slices.ContainsFunc(p.Node.Taints, func(t world.Taint) bool { return t.Key == Mark().Key && t.Effect == Mark().Effect })
}
