package fit

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Taints refuses a place with a taint, NoSchedule or NoExecute, that the pod does not tolerate.
func Taints(p *world.Pod, at *Place) *reason.Why {
	if tolerates(p, at) {
		return nil
	}
	bad := Untolerated(p.Tolerations, at.Taints)
	texts := make([]string, len(bad))
	for i, t := range bad {
		texts[i] = TaintText(t)
	}
	return &reason.Why{
		Code: reason.Taint, Subject: at.Name, Detail: strings.Join(texts, ", "), Hint: tolerate(bad, texts),
	}
}

// tolerate advises a toleration for the first taint that a user set. Those of Kubernetes and Karpenter say how the node
// stands: a pod that tolerates them is sent to nodes that go, or cannot run pods.
func tolerate(bad []world.Taint, texts []string) string {
	for i, t := range bad {
		if domain, _, _ := strings.Cut(t.Key, "/"); domain != "karpenter.sh" && domain != "node.kubernetes.io" && domain != "node.cloudprovider.kubernetes.io" {
			return "add a toleration for " + texts[i]
		}
	}
	return ""
}

func tolerates(p *world.Pod, at *Place) bool {
	for _, t := range at.Taints {
		if t.Effect != world.PreferNoSchedule && !Tolerated(p.Tolerations, t) {
			return false
		}
	}
	return true
}

// Untolerated returns the taints that keep a pod with these tolerations away.
func Untolerated(tolerations []world.Toleration, taints []world.Taint) []world.Taint {
	var out []world.Taint
	for _, t := range taints {
		if t.Effect != world.PreferNoSchedule && !Tolerated(tolerations, t) {
			out = append(out, t)
		}
	}
	return out
}

// Tolerated reports whether one of the tolerations accepts the taint.
func Tolerated(tolerations []world.Toleration, t world.Taint) bool {
	return slices.ContainsFunc(tolerations, func(o world.Toleration) bool {
		switch {
		case o.Effect != "" && o.Effect != t.Effect:
			return false
		case o.Key == "":
			return o.Exists
		case o.Key != t.Key:
			return false
		}
		return o.Exists || o.Value == t.Value
	})
}

// TaintText writes a taint as kubectl does: key=value:effect.
func TaintText(t world.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + t.Effect
	}
	return t.Key + "=" + t.Value + ":" + t.Effect
}

// cordonTaint is what a cordoned node's taint would be; a pod that tolerates it may go there.
func cordonTaint() world.Taint {
	return world.Taint{Key: "node.kubernetes.io/unschedulable", Effect: world.NoSchedule}
}

// Cordon refuses a cordoned node.
func Cordon(p *world.Pod, at *Place) *reason.Why {
	if open(p, at) {
		return nil
	}
	return &reason.Why{Code: reason.Unschedulable, Subject: at.Name, Hint: "uncordon it"}
}

func open(p *world.Pod, at *Place) bool {
	return !at.Cordoned || Tolerated(p.Tolerations, cordonTaint())
}

// Leaving refuses a machine that is going away.
func Leaving(_ *world.Pod, at *Place) *reason.Why {
	if !at.Deleting {
		return nil
	}
	return &reason.Why{Code: reason.Deleting, Subject: at.Name}
}

func stays(_ *world.Pod, at *Place) bool { return !at.Deleting }

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
