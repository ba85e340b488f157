package app

import (
	"strings"
	"testing"
)

func TestParseSchedulerConfig(t *testing.T) {
	one := func(fields string) string {
		return `{"podTopologySpread": {"defaultConstraints": [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}, {` + fields + `}]}}`
	}
	const host = `"topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"`
	for name, c := range map[string]struct {
		text, refused string
		want          int
	}{
		"Nothing":      {},
		"YAML":         {text: "podTopologySpread:\n  defaultConstraints:\n  - maxSkew: 5\n    topologyKey: topology.kubernetes.io/zone\n    whenUnsatisfiable: ScheduleAnyway\n", want: 1},
		"JSON":         {text: one(`"maxSkew": 3, ` + host), want: 2},
		"NoDocument":   {text: "/etc/scheduler.yaml", refused: "the document itself"},
		"UnknownKey":   {text: one(`"maxSkew": 3, "maxSkewed": 1, ` + host), refused: "maxSkewed"},
		"APIVersion":   {text: `apiVersion: kubescheduler.config.k8s.io/v1`, refused: "apiVersion"},
		"NoSkew":       {text: one(host), refused: "[1]: maxSkew is 0"},
		"NoKey":        {text: one(`"maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"`), refused: `[1]: topologyKey ""`},
		"OddKey":       {text: one(`"maxSkew": 1, "topologyKey": "a b", "whenUnsatisfiable": "ScheduleAnyway"`), refused: `[1]: topologyKey "a b"`},
		"Whenever":     {text: one(`"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "Perhaps"`), refused: `[1]: whenUnsatisfiable is "Perhaps"`},
		"NoDomains":    {text: one(`"maxSkew": 1, "minDomains": -1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"`), refused: "[1]: minDomains is -1, want at least 1"},
		"SoftDomains":  {text: one(`"maxSkew": 1, "minDomains": 2, ` + host), refused: "[1]: minDomains is set"},
		"Affinity":     {text: one(`"maxSkew": 1, "nodeAffinityPolicy": "Maybe", ` + host), refused: `[1]: nodeAffinityPolicy is "Maybe", want Honor or Ignore`},
		"Taints":       {text: one(`"maxSkew": 1, "nodeTaintsPolicy": "honor", ` + host), refused: `[1]: nodeTaintsPolicy is "honor"`},
		"AllAtOnce":    {text: one(`"maxSkew": 0, "nodeTaintsPolicy": "honor", ` + host), refused: "want at least 1\n--scheduler-config: podTopologySpread.defaultConstraints[1]: nodeTaintsPolicy"},
		"Counted":      {text: one(`"maxSkew": 1, "minDomains": 2, "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor", "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"`), want: 2},
		"Selector":     {text: one(`"maxSkew": 1, "labelSelector": {}, ` + host), refused: "[1]: labelSelector"},
		"LabelKeys":    {text: one(`"maxSkew": 1, "matchLabelKeys": ["a"], ` + host), refused: "[1]: matchLabelKeys"},
		"Twice":        {text: one(`"maxSkew": 2, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"`), refused: "[1]: is a duplicate of [0]"},
		"TwoStrengths": {text: one(`"maxSkew": 2, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"`), want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseSchedulerConfig(c.text)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("got %v, want it refused for %q", err, c.refused)
				}
				return
			}
			if n := len(got.PodTopologySpread.DefaultConstraints); err != nil || n != c.want {
				t.Errorf("got %d constraints and %v, want %d", n, err, c.want)
			}
		})
	}
}
