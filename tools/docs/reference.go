package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
)

// The folders with constants that users meet, and the group of each.
const (
	coreAPI  = "api/karpenter/v1"
	layerAPI = "api/karpenter/v1alpha1"
	olderAPI = "api/karpenter/v1alpha5"
	awsAPI   = "api/aws/v1"
)

var groups = map[string]string{coreAPI: v1.Group, olderAPI: v1alpha5.Group, awsAPI: awsv1.Group}

// events describes the events there can be. One that the code publishes and no
// line describes is an error, and so is a line that no code publishes.
func events(s *source) (string, error) {
	told := eventsToTell()
	for reason := range s.events {
		if _, ok := told[reason]; !ok {
			return "", fmt.Errorf("the event %s has no line in tools/docs", reason)
		}
	}
	var b strings.Builder
	b.WriteString("# Events\n\n" + made)
	b.WriteString("`kubectl events -A` or `kubectl describe` shows them. The same event of the same object is not repeated for two minutes, refusals for five.\n" +
		"Besides, a condition of a NodePool, an EC2NodeClass or a CapacityBuffer that changes has an event under its own name, and so has each step of a NodeClaim: Launched, Registered, Initialized, Ready.\n\n")
	b.WriteString("| reason | kind | of | what it means, and what to do |\n|---|---|---|---|\n")
	for _, reason := range slices.Sorted(maps.Keys(told)) {
		if !s.strings[reason] {
			return "", fmt.Errorf("no code publishes the event %s that tools/docs describes", reason)
		}
		e := told[reason]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", reason, e.kind, e.of, cell(e.say))
	}
	return b.String(), nil
}

// conditions describes the status conditions and their reasons. Constants that
// nothing writes are left out.
func conditions(s *source) (string, error) {
	told := conditionsToTell()
	seen := map[string]bool{}
	var b strings.Builder
	b.WriteString("# Conditions\n\n" + made)
	b.WriteString("What `status.conditions` of an object says. Reasons are those of Karpenter where it has one for the same thing. A condition that is True has its own name as reason.\n")
	for _, part := range []struct{ title, dir, name, prefix string }{
		{"NodePools and NodeClaims", coreAPI, "v1", "Condition"},
		{"Reasons on NodePools and NodeClaims", coreAPI, "v1", "Reason"},
		{"EC2NodeClasses", awsAPI, "awsv1", "Condition"},
		{"Reasons on EC2NodeClasses", awsAPI, "awsv1", "Reason"},
		{"NodeOverlays", layerAPI, "v1alpha1", "Condition"},
		{"Reasons on NodeOverlays", layerAPI, "v1alpha1", "Reason"},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n| %s | meaning |\n|---|---|\n", part.title, strings.ToLower(part.prefix))
		for _, c := range s.constants[part.dir] {
			if !strings.HasPrefix(c.Name, part.prefix) || !s.used[part.name+"."+c.Name] {
				continue
			}
			say := told[c.Value]
			if say == "" {
				return "", fmt.Errorf("%s %s has no line in tools/docs", strings.ToLower(part.prefix), c.Value)
			}
			seen[c.Value] = true
			fmt.Fprintf(&b, "| `%s` | %s |\n", c.Value, cell(say))
		}
	}
	b.WriteString("\n## Others\n\n| condition or reason | meaning |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(told)) {
		if seen[name] {
			continue
		}
		if !s.strings[name] {
			return "", fmt.Errorf("no code writes the condition or reason %s that tools/docs describes", name)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, cell(told[name]))
	}
	return b.String(), nil
}

// labels lists the labels, annotations, taints and finalizers of the API.
func labels(s *source) (string, error) {
	var b strings.Builder
	b.WriteString("# Labels, annotations, taints\n\n" + made)
	for _, part := range []struct{ title, about, prefix string }{
		{"Labels", "Requirements of pools, and node selectors and affinities of pods, may use them. Those of `karpenter.k8s.aws` describe the machine.", "Label"},
		{"Annotations", "Those that end in `hash` or `version`, and those that nothing is said of, are for the controller's own use.", "Annotation"},
		{"Taints", "", "Taint"},
		{"Finalizers", "An object with one stays until the controller has cleaned up after it.", "Finalizer"},
	} {
		fmt.Fprintf(&b, "## %s\n\n", part.title)
		if part.about != "" {
			b.WriteString(part.about + "\n\n")
		}
		b.WriteString("| name | meaning |\n|---|---|\n")
		rows := map[string]string{}
		for _, dir := range []string{olderAPI, awsAPI, coreAPI} {
			for _, c := range s.constants[dir] {
				if strings.HasPrefix(c.Name, part.prefix) && strings.Contains(c.Value, "/") {
					rows[c.Value] = strings.TrimPrefix(strings.TrimPrefix(c.Comment, c.Name+" "), "is ")
				}
			}
		}
		if len(rows) == 0 {
			return "", fmt.Errorf("the code has no constant that begins with %s", part.prefix)
		}
		for _, name := range slices.Sorted(maps.Keys(rows)) {
			say := rows[name]
			if say == "" {
				say = labelsToTell()[name]
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, cell(say))
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n", nil
}

// written tells which metrics some code writes, by name.
func written(s *source) func(name string) bool {
	names := map[string]bool{}
	var endings []string
	for _, c := range s.constants["internal/metric"] {
		switch {
		case strings.HasPrefix(c.Value, "status_condition_") || strings.HasPrefix(c.Value, "termination_"): // the end of a name
			if s.used["metric."+c.Name] {
				endings = append(endings, "_"+c.Value)
			}
		case s.passed["metric."+c.Name]:
			names[c.Value] = true
		}
	}
	names["tenon_metrics_dropped_series_total"] = true // written where metrics are kept
	return func(name string) bool {
		return names[name] || slices.ContainsFunc(endings, func(e string) bool {
			return strings.HasPrefix(name, "operator_") && strings.HasSuffix(name, e)
		})
	}
}
