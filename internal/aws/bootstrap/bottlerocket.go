package bootstrap

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// bottlerocket is settings in TOML: the user's, and over them what the node needs.
func bottlerocket(n Node) (string, error) {
	document := map[string]any{}
	if strings.TrimSpace(n.Own) != "" {
		if err := toml.Unmarshal([]byte(n.Own), &document); err != nil {
			return "", fmt.Errorf("user data is not TOML, which Bottlerocket reads: %w", withPlace(err))
		}
	}
	settings, err := table(document, "settings")
	if err != nil {
		return "", err
	}
	kubernetes, err := table(settings, "kubernetes")
	if err != nil {
		return "", err
	}
	for key, value := range n.bottlerocketKeys() {
		kubernetes[key] = value
	}
	labels, err := table(kubernetes, "node-labels")
	if err != nil {
		return "", err
	}
	for key, value := range n.Labels {
		labels[key] = value
	}
	if len(labels) == 0 {
		delete(kubernetes, "node-labels")
	}
	kubernetes["node-taints"] = n.bottlerocketTaints()
	if n.RAID0 {
		commands, err := table(settings, "bootstrap-commands")
		if err != nil {
			return "", err
		}
		commands["000-mount-instance-storage"] = map[string]any{
			"commands": [][]string{
				{"apiclient", "ephemeral-storage", "init"},
				{"apiclient", "ephemeral-storage", "bind", "--dirs", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"},
			},
			"essential": true,
			"mode":      "always",
		}
	}
	out, err := toml.Marshal(document)
	return string(out), err
}

// withPlace says line and column of what TOML could not read.
func withPlace(err error) error {
	if d, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, column := d.Position()
		return fmt.Errorf("line %d, column %d: %w", row, column, err)
	}
	return err
}

// table returns the table of a key, made if it is not there.
func table(in map[string]any, key string) (map[string]any, error) {
	v, ok := in[key]
	if !ok {
		t := map[string]any{}
		in[key] = t
		return t, nil
	}
	t, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("user data: %s must be a table, is %v", key, v)
	}
	return t, nil
}

func (n Node) bottlerocketKeys() map[string]any {
	k := n.Kubelet
	keys := map[string]any{
		"cluster-name": n.Cluster.Name, "api-server": n.Cluster.Endpoint, "cluster-certificate": n.Cluster.CA,
	}
	switch dns := n.dns(); len(dns) {
	case 0:
	case 1:
		keys["cluster-dns-ip"] = dns[0]
	default:
		keys["cluster-dns-ip"] = dns
	}
	for key, m := range map[string]map[string]string{
		"system-reserved": k.SystemReserved, "kube-reserved": k.KubeReserved,
		"eviction-hard": k.EvictionHard, "eviction-soft": k.EvictionSoft, "eviction-soft-grace-period": k.EvictionGrace,
	} {
		if len(m) > 0 {
			keys[key] = m
		}
	}
	if k.MaxPods != nil {
		keys["max-pods"] = *k.MaxPods
	}
	if k.EvictionMaxGrace != nil {
		keys["eviction-max-pod-grace-period"] = *k.EvictionMaxGrace
	}
	if k.ImageGCHigh != nil {
		keys["image-gc-high-threshold-percent"] = strconv.FormatInt(*k.ImageGCHigh, 10)
	}
	if k.ImageGCLow != nil {
		keys["image-gc-low-threshold-percent"] = strconv.FormatInt(*k.ImageGCLow, 10)
	}
	if k.CPUCFSQuota != nil {
		keys["cpu-cfs-quota-enforced"] = *k.CPUCFSQuota
	}
	return keys
}

// bottlerocketTaints are lists of value:effect by key.
func (n Node) bottlerocketTaints() map[string][]string {
	out := map[string][]string{}
	for _, t := range n.Taints {
		out[t.Key] = append(out[t.Key], t.Value+":"+t.Effect)
	}
	return out
}
