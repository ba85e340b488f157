package bootstrap

import (
	"errors"
	"fmt"
	"maps"

	"sigs.k8s.io/yaml"
)

// nodeConfig is the document that AL2023's nodeadm reads.
type nodeConfig struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Spec       nodeSpec `json:"spec"`
}

type nodeSpec struct {
	Cluster  nodeCluster   `json:"cluster"`
	Instance *nodeInstance `json:"instance,omitempty"`
	Kubelet  nodeKubelet   `json:"kubelet"`
}

type nodeCluster struct {
	Name                 string `json:"name"`
	APIServerEndpoint    string `json:"apiServerEndpoint"`
	CertificateAuthority string `json:"certificateAuthority"`
	CIDR                 string `json:"cidr"`
}

type nodeInstance struct {
	LocalStorage struct {
		Strategy string `json:"strategy"`
	} `json:"localStorage"`
}

type nodeKubelet struct {
	Config map[string]any `json:"config"`
	Flags  []string       `json:"flags,omitempty"`
}

func nodeadm(n Node) (string, error) {
	if n.Cluster.ServiceCIDR == "" {
		return "", errors.New("AL2023 needs the cluster's service CIDR, which is not known: allow eks:DescribeCluster")
	}
	config := nodeConfig{
		APIVersion: "node.eks.aws/v1alpha1",
		Kind:       "NodeConfig",
		Spec: nodeSpec{
			Cluster: nodeCluster{n.Cluster.Name, n.Cluster.Endpoint, n.Cluster.CA, n.Cluster.ServiceCIDR},
			Kubelet: nodeKubelet{Config: n.kubeletConfig()},
		},
	}
	if flag := n.labelsArg(); flag != "" {
		config.Spec.Kubelet.Flags = []string{flag}
	}
	if n.RAID0 {
		config.Spec.Instance = &nodeInstance{}
		config.Spec.Instance.LocalStorage.Strategy = "RAID0"
	}
	document, err := yaml.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("kubelet settings: %w", err)
	}
	own, err := ownParts(n.Own, shellType)
	if err != nil {
		return "", err
	}
	return archive(append(own, part{contentType: nodeadmType, body: "# made by the node's controller\n" + string(document)}))
}

// kubeletConfig is everything the user set, known here or not, and what the node needs.
func (n Node) kubeletConfig() map[string]any {
	c := maps.Clone(n.Kubelet.All)
	if c == nil {
		c = map[string]any{}
	}
	delete(c, "maxPods")
	if n.Kubelet.MaxPods != nil {
		c["maxPods"] = *n.Kubelet.MaxPods
	}
	for key, settled := range map[string]map[string]string{"kubeReserved": n.Kubelet.KubeReserved, "systemReserved": n.Kubelet.SystemReserved} {
		delete(c, key)
		if len(settled) > 0 {
			c[key] = settled
		}
	}
	if dns := n.dns(); len(dns) > 0 {
		c["clusterDNS"] = dns
	}
	var taints []map[string]string
	for _, t := range n.Taints {
		taint := map[string]string{"key": t.Key, "effect": t.Effect}
		if t.Value != "" {
			taint["value"] = t.Value
		}
		taints = append(taints, taint)
	}
	if len(taints) > 0 {
		c["registerWithTaints"] = taints
	}
	return c
}
