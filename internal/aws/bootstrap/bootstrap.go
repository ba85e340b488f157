// Package bootstrap writes the user data by which a machine joins the cluster, in the form its family of images reads.
//
// It is text from values. What the user wrote for the class comes first, what
// the node needs comes last, so that it has the last word.
package bootstrap

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
)

// Cluster is what a node must know of the cluster it joins.
type Cluster struct {
	Name        string
	Endpoint    string // of the API server
	CA          string // its certificate, in base64
	DNS         string // address of the cluster's DNS service
	ServiceCIDR string // needed by AL2023
}

// IPv6 reports whether the cluster's pods and services have IPv6 addresses.
func (c Cluster) IPv6() bool {
	p, err := netip.ParsePrefix(c.ServiceCIDR)
	return err == nil && p.Addr().Is6() || isIPv6(c.DNS)
}

// Node is one machine to be.
type Node struct {
	Family  string
	Legacy  bool // in the form of the v1alpha5 era
	Cluster Cluster
	Labels  map[string]string // of the node to be; those a kubelet may not set on itself are left out
	Taints  []world.Taint
	Kubelet kubelet.Config // with MaxPods settled, unless Legacy
	RAID0   bool           // join the local disks for pods' ephemeral storage
	Own     string         // the user's own user data
}

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

// dns is the addresses the kubelet gives to pods: its own setting, or the
// cluster's. In the v1alpha5 era the image found out itself, but for IPv6.
func (n Node) dns() []string {
	switch {
	case len(n.Kubelet.ClusterDNS) > 0:
		return n.Kubelet.ClusterDNS
	case n.Cluster.DNS == "", n.Legacy && !isIPv6(n.Cluster.DNS):
		return nil
	}
	return []string{n.Cluster.DNS}
}

func (n Node) ipv6() bool {
	dns := n.dns()
	return len(dns) > 0 && isIPv6(dns[0])
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6()
}

// kubeletArgs are the kubelet's flags, in the order that nodes have always had them.
func (n Node) kubeletArgs() string {
	k := n.Kubelet
	args := []string{n.labelsArg(), n.taintsArg()}
	number := func(flag string, v *int64) {
		if v != nil {
			args = append(args, flag+"="+strconv.FormatInt(*v, 10))
		}
	}
	number("--max-pods", k.MaxPods)
	number("--pods-per-core", k.PodsPerCore)
	args = append(args,
		pairs("--system-reserved", k.SystemReserved, "="),
		pairs("--kube-reserved", k.KubeReserved, "="),
		pairs("--eviction-hard", k.EvictionHard, "<"),
		pairs("--eviction-soft", k.EvictionSoft, "<"),
		pairs("--eviction-soft-grace-period", k.EvictionGrace, "="),
	)
	number("--eviction-max-pod-grace-period", k.EvictionMaxGrace)
	number("--image-gc-high-threshold", k.ImageGCHigh)
	number("--image-gc-low-threshold", k.ImageGCLow)
	if k.CPUCFSQuota != nil {
		args = append(args, fmt.Sprintf("--cpu-cfs-quota=%t", *k.CPUCFSQuota))
	}
	return strings.Join(slices.DeleteFunc(args, func(a string) bool { return a == "" }), " ")
}

func (n Node) labelsArg() string {
	return n.quoted("--node-labels", joined(n.Labels, "="))
}

func (n Node) taintsArg() string {
	var taints []string
	for _, t := range n.Taints {
		taints = append(taints, t.Key+"="+t.Value+":"+t.Effect)
	}
	return n.quoted("--register-with-taints", strings.Join(taints, ","))
}

// quoted writes a flag whose value stands in double quotes, but for the v1alpha5 era.
func (n Node) quoted(flag, value string) string {
	switch {
	case value == "":
		return ""
	case n.Legacy:
		return flag + "=" + value
	}
	return flag + `="` + value + `"`
}

func pairs(flag string, m map[string]string, between string) string {
	if len(m) == 0 {
		return ""
	}
	return flag + "=" + joined(m, between)
}

func joined(m map[string]string, between string) string {
	parts := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, k+between+m[k])
	}
	return strings.Join(parts, ",")
}
