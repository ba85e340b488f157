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
