package kubelet

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Settings are what user data tells a machine about the cluster it joins and about its kubelet.
type Settings struct {
	Cluster  string
	Endpoint string
	Labels   map[string]string
	Taints   []corev1.Taint

	MaxPods        int // 0: as many as the machine can address
	PodsPerCore    int
	KubeReserved   map[string]string
	SystemReserved map[string]string
	EvictionHard   map[string]string // of quantities and percentages

	// DensityReserve tells that the system reserves memory by the pods it is set to run, not by those its network
	// could address.
	DensityReserve bool
}

// ErrNoJoin says that user data makes a machine join no cluster. Such machines boot and do nothing, as in life.
var ErrNoJoin = errors.New("the user data joins no cluster")

// flags takes over what arguments of a kubelet say.
func (s *Settings) flags(args []string) error {
	for name, value := range options(args) {
		value = unquoted(value)
		var err error
		switch name {
		case "node-labels":
			err = s.labels(value)
		case "register-with-taints":
			err = s.taints(value)
		case "max-pods":
			s.MaxPods, err = strconv.Atoi(value)
		case "pods-per-core":
			s.PodsPerCore, err = strconv.Atoi(value)
		case "kube-reserved":
			s.KubeReserved, err = pairs(value, "=")
		case "system-reserved":
			s.SystemReserved, err = pairs(value, "=")
		case "eviction-hard":
			s.EvictionHard, err = pairs(value, "<")
		}
		if err != nil {
			return fmt.Errorf("kubelet argument --%s=%s: %w", name, value, err)
		}
	}
	return nil
}

// unquoted takes off the quotes in which a flag of a node configuration may
// stand: the service that starts the kubelet takes them off as a shell does.
func unquoted(v string) string {
	if len(v) >= 2 && v[0] == '"' && v[len(v)-1] == '"' {
		return v[1 : len(v)-1]
	}
	return v
}

func (s *Settings) labels(list string) error {
	l, err := pairs(list, "=")
	if err != nil {
		return err
	}
	if s.Labels == nil {
		s.Labels = map[string]string{}
	}
	maps.Copy(s.Labels, l)
	return nil
}

// taints takes a list of key=value:Effect or key:Effect.
func (s *Settings) taints(list string) error {
	for _, text := range strings.Split(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		i := strings.LastIndex(text, ":")
		if i < 0 {
			return fmt.Errorf("taint %q has no effect", text)
		}
		key, value, _ := strings.Cut(text[:i], "=")
		t := corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(text[i+1:])}
		if err := effect(t); err != nil {
			return err
		}
		s.Taints = append(s.Taints, t)
	}
	return nil
}

func effect(t corev1.Taint) error {
	known := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	if !slices.Contains(known, t.Effect) {
		return fmt.Errorf("taint %q has the effect %q, which is none", t.Key, t.Effect)
	}
	return nil
}

// pairs splits a,b,c of pairs around sep.
func pairs(list, sep string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range strings.Split(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		key, value, ok := strings.Cut(text, sep)
		if !ok {
			return nil, fmt.Errorf("%q has no %q", text, sep)
		}
		out[key] = value
	}
	return out, nil
}

// check refuses what makes a real kubelet end before it registers: labels of Kubernetes' own that it may not give
// itself.
func (s *Settings) check() error {
	var bad []string
	for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
		if ofKubernetes(name) && !mayLabel(name) {
			bad = append(bad, name)
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("the kubelet ends at once: it may not set its labels %s", strings.Join(bad, ", "))
	}
	return nil
}

func ofKubernetes(label string) bool {
	domain, _, ok := strings.Cut(label, "/")
	return ok && (inDomain(domain, "kubernetes.io") || inDomain(domain, "k8s.io"))
}

func mayLabel(name string) bool {
	domain, _, _ := strings.Cut(name, "/")
	return inDomain(domain, "node.kubernetes.io") || inDomain(domain, "kubelet.kubernetes.io") || slices.Contains([]string{
		corev1.LabelHostname, corev1.LabelArchStable, corev1.LabelOSStable, "beta.kubernetes.io/arch", "beta.kubernetes.io/os",
		corev1.LabelInstanceType, corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
		corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
	}, name)
}

func inDomain(domain, of string) bool {
	return domain == of || strings.HasSuffix(domain, "."+of)
}
