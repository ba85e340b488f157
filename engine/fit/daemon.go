package fit

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

// Runs reports whether the daemon set puts a pod on the place: its selector,
// affinity and tolerations accept it. Kubernetes adds tolerations of its own.
func Runs(d *world.DaemonSet, at *Place) bool {
	return labelled(&d.Pod, at) && !slices.ContainsFunc(at.Taints, func(t world.Taint) bool {
		return t.Effect != world.PreferNoSchedule && !daemonTolerates(t) && !Tolerated(d.Pod.Tolerations, t)
	})
}

// Particular reports whether on which machines the daemon set runs depends on their labels.
func Particular(d *world.DaemonSet) bool {
	return len(d.Pod.NodeSelector)+len(d.Pod.NodeTerms) > 0
}

func daemonTolerates(t world.Taint) bool {
	switch t.Key {
	case "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable":
		return t.Effect == world.NoExecute
	case "node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure",
		"node.kubernetes.io/pid-pressure", "node.kubernetes.io/unschedulable":
		return t.Effect == world.NoSchedule
	}
	return false
}
