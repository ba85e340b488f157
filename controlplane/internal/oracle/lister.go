package oracle

import (
	"fmt"

	fwk "k8s.io/kube-scheduler/framework"
)

// The cluster shows itself to the plugins as the scheduler's snapshot does.

func (cl *cluster) NodeInfos() fwk.NodeInfoLister           { return cl }
func (cl *cluster) StorageInfos() fwk.StorageInfoLister     { return cl }
func (cl *cluster) PodGroupStates() fwk.PodGroupStateLister { return noGroups{} }

// List returns every machine, by name.
func (cl *cluster) List() ([]fwk.NodeInfo, error) {
	return cl.those(func(fwk.NodeInfo) bool { return true }), nil
}

// HavePodsWithAffinityList returns the machines with pods that have affinity terms.
func (cl *cluster) HavePodsWithAffinityList() ([]fwk.NodeInfo, error) {
	return cl.those(func(n fwk.NodeInfo) bool { return len(n.GetPodsWithAffinity()) > 0 }), nil
}

// HavePodsWithRequiredAntiAffinityList returns the machines with pods that keep others away.
func (cl *cluster) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) {
	return cl.those(func(n fwk.NodeInfo) bool { return len(n.GetPodsWithRequiredAntiAffinity()) > 0 }), nil
}

func (cl *cluster) those(which func(fwk.NodeInfo) bool) []fwk.NodeInfo {
	out := make([]fwk.NodeInfo, 0, len(cl.order))
	for _, name := range cl.order {
		if n := cl.nodes[name]; which(n) {
			out = append(out, n)
		}
	}
	return out
}

// Get returns the machine of that name.
func (cl *cluster) Get(name string) (fwk.NodeInfo, error) {
	if n, ok := cl.nodes[name]; ok {
		return n, nil
	}
	return nil, fmt.Errorf("no node %q", name)
}

// IsPVCUsedByPods reports whether a running pod uses the claim.
func (cl *cluster) IsPVCUsedByPods(claim string) bool {
	for _, n := range cl.nodes {
		if n.PVCRefCounts[claim] > 0 {
			return true
		}
	}
	return false
}

type noGroups struct{}

func (noGroups) Get(namespace, name string) (fwk.PodGroupState, error) {
	return nil, fmt.Errorf("no pod group %s/%s", namespace, name)
}
