package app

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// SchedulerConfig is what an operator says of the scheduler that binds the pods.
type SchedulerConfig struct {
	PodTopologySpread struct {
		DefaultConstraints []corev1.TopologySpreadConstraint `json:"defaultConstraints,omitempty"`
	} `json:"podTopologySpread"`
}

// ParseSchedulerConfig reads the document of --scheduler-config, which may be
// empty. A key that it does not have is refused, as is a constraint that
// kube-scheduler would not take as a default.
func ParseSchedulerConfig(text string) (SchedulerConfig, error) {
	var c SchedulerConfig
	if err := yaml.UnmarshalStrict([]byte(text), &c); err != nil {
		return c, fmt.Errorf("--scheduler-config is the document itself, in YAML or JSON, with podTopologySpread.defaultConstraints: %w", err)
	}
	seen := map[[2]string]int{}
	for i, s := range c.PodTopologySpread.DefaultConstraints {
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("--scheduler-config: podTopologySpread.defaultConstraints[%d]: %s", i, fmt.Sprintf(format, args...))
		}
		key := [2]string{s.TopologyKey, string(s.WhenUnsatisfiable)}
		first, again := seen[key]
		switch {
		case s.MaxSkew <= 0:
			return c, wrong("maxSkew is %d, want at least 1", s.MaxSkew)
		case len(validation.IsQualifiedName(s.TopologyKey)) > 0:
			return c, wrong("topologyKey %q is no label: %s", s.TopologyKey, validation.IsQualifiedName(s.TopologyKey)[0])
		case s.WhenUnsatisfiable != corev1.DoNotSchedule && s.WhenUnsatisfiable != corev1.ScheduleAnyway:
			return c, wrong("whenUnsatisfiable is %q, want DoNotSchedule or ScheduleAnyway", s.WhenUnsatisfiable)
		case s.LabelSelector != nil:
			return c, wrong("labelSelector is set: it is made from what owns a pod, remove it")
		case len(s.MatchLabelKeys) > 0:
			return c, wrong("matchLabelKeys is set: which pods count is made from what owns a pod, remove it")
		case again:
			return c, wrong("is a duplicate of [%d]: both have topologyKey %s and whenUnsatisfiable %s", first, s.TopologyKey, s.WhenUnsatisfiable)
		}
		seen[key] = i
	}
	return c, nil
}
