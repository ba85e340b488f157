// Package bootstrap writes the user data by which a machine joins the cluster, in the form its family of images reads.
//
// It is text from values. What the user wrote for the class comes first, what
// the node needs comes last, so that it has the last word.
package bootstrap

import (
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/world"
)

// UserData returns a node's user data, as text. It refuses what the user wrote
// if it cannot be merged, and says why.
func UserData(n Node) (string, error) {
	n.Labels = registrable(n.Labels)
	if n.Legacy {
		maps.DeleteFunc(n.Labels, unsaid)
	} else {
		n.Labels[taintsAreReady] = "true"
		n.Taints = withUnregistered(n.Taints)
	}
	switch n.Family {
	case "Custom":
		return n.Own, nil
	case "AL2023":
		return nodeadm(n)
	case "Bottlerocket":
		return bottlerocket(n)
	case "Windows2019", "Windows2022", "Windows2025":
		return windows(n), nil
	}
	return shell(n)
}

// taintsAreReady is the label of a node whose kubelet sets all its taints, so
// that the controller need not.
const taintsAreReady = "karpenter.sh/do-not-sync-taints"

// unregistered keeps pods off a node until the controller has seen it.
const unregistered = "karpenter.sh/unregistered"

func withUnregistered(taints []world.Taint) []world.Taint {
	if slices.ContainsFunc(taints, func(t world.Taint) bool { return t.Key == unregistered }) {
		return taints
	}
	return append(slices.Clone(taints), world.Taint{Key: unregistered, Effect: world.NoExecute})
}

// registrable leaves out the labels that a kubelet may not set on its own node.
func registrable(labels map[string]string) map[string]string {
	out := make(map[string]string, len(labels))
	for key, value := range labels {
		if mayRegister(key) {
			out[key] = value
		}
	}
	return out
}

// unsaid reports whether user data of the v1alpha5 era leaves a label out: the
// kubelet and the cloud say what and where the machine is, and the class is the
// controller's to note.
func unsaid(key string, _ string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == "topology.kubernetes.io" || domain == "karpenter.k8s.aws" ||
		slices.Contains([]string{"kubernetes.io/arch", "kubernetes.io/os", "node.kubernetes.io/instance-type", "karpenter.sh/provisioner"}, key)
}

func mayRegister(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	within := func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) }
	switch {
	case !ok || !within("kubernetes.io") && !within("k8s.io"):
		return true
	case within("kubelet.kubernetes.io"), within("node.kubernetes.io"):
		return true
	}
	return slices.Contains([]string{
		"kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os",
		"beta.kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/instance-type",
		"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
		"topology.kubernetes.io/zone", "topology.kubernetes.io/region",
	}, key)
}
