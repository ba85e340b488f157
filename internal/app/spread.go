package app

import (
	"errors"
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
// kube-scheduler would not take as a default, or the API server not of a pod: all
// that is wrong is said at once.
func ParseSchedulerConfig(text string) (SchedulerConfig, error) {
	var c SchedulerConfig
	if err := yaml.UnmarshalStrict([]byte(text), &c); err != nil {
		return c, fmt.Errorf("--scheduler-config is the document itself, in YAML or JSON, with podTopologySpread.defaultConstraints: %w", err)
	}
	var errs []error
	first := map[[2]string]int{}
	for i, s := range c.PodTopologySpread.DefaultConstraints {
		wrong := objections(s)
		key := [2]string{s.TopologyKey, string(s.WhenUnsatisfiable)}
		if j, again := first[key]; again {
			wrong = append(wrong, fmt.Sprintf("is a duplicate of [%d]: both have topologyKey %s and whenUnsatisfiable %s", j, s.TopologyKey, s.WhenUnsatisfiable))
		} else {
			first[key] = i
		}
		for _, w := range wrong {
			errs = append(errs, fmt.Errorf("--scheduler-config: podTopologySpread.defaultConstraints[%d]: %s", i, w))
		}
	}
	return c, errors.Join(errs...)
}

// objections is what is wrong with a constraint that is given to pods that state none.
func objections(s corev1.TopologySpreadConstraint) (wrong []string) {
	say := func(is bool, format string, args ...any) {
		if is {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	say(s.MaxSkew <= 0, "maxSkew is %d, want at least 1", s.MaxSkew)
	for _, why := range validation.IsQualifiedName(s.TopologyKey) {
		say(true, "topologyKey %q is no label: %s", s.TopologyKey, why)
	}
	say(s.WhenUnsatisfiable != corev1.DoNotSchedule && s.WhenUnsatisfiable != corev1.ScheduleAnyway,
		"whenUnsatisfiable is %q, want DoNotSchedule or ScheduleAnyway", s.WhenUnsatisfiable)
	if s.MinDomains != nil {
		say(*s.MinDomains <= 0, "minDomains is %d, want at least 1", *s.MinDomains)
		say(s.WhenUnsatisfiable != corev1.DoNotSchedule, "minDomains is set, which only counts with whenUnsatisfiable DoNotSchedule")
	}
	for _, f := range []struct {
		name   string
		policy *corev1.NodeInclusionPolicy
	}{{"nodeAffinityPolicy", s.NodeAffinityPolicy}, {"nodeTaintsPolicy", s.NodeTaintsPolicy}} {
		if p := f.policy; p != nil {
			say(*p != corev1.NodeInclusionPolicyHonor && *p != corev1.NodeInclusionPolicyIgnore, "%s is %q, want Honor or Ignore", f.name, *p)
		}
	}
	say(s.LabelSelector != nil, "labelSelector is set: it is made from what owns a pod, remove it")
	say(len(s.MatchLabelKeys) > 0, "matchLabelKeys is set: which pods count is made from what owns a pod, remove it")
	return wrong
}
