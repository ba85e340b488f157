package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	engine "github.com/tenon-sh/tenon/engine/plan"
)

const moving = `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"general"},"spec":{"template":{"spec":{
	"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"default"},"requirements":[]}},
	"disruption":{"consolidationPolicy":"WhenEmptyOrUnderutilized","consolidateAfter":"5m","budgets":[{"nodes":%q}]}}}
`

func nodeOf(name string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"karpenter.sh/nodepool":"general",
		"karpenter.sh/initialized":"true","node.kubernetes.io/instance-type":"m5.2xlarge","topology.kubernetes.io/zone":"nowhere-1a","karpenter.sh/capacity-type":"on-demand",
		"kubernetes.io/arch":"amd64","kubernetes.io/os":"linux","kubernetes.io/hostname":%q}},
		"status":{"allocatable":{"cpu":"7910m","memory":"29Gi","pods":"58"},"conditions":[{"type":"Ready","status":"True"}]}}`+"\n", name, name)
}

func bound(name, node, cpu string) string {
	return strings.Replace(podOf(name, cpu), `"spec":{`, `"spec":{"nodeName":"`+node+`",`, 1)
}

func TestDisrupt(t *testing.T) {
	type end struct {
		Mode  string
		Nodes []string // with their pods
		Moves int
		Steps int
	}
	two := nodeOf("n1") + nodeOf("n2") + bound("a", "n1", "3") + bound("b", "n2", "3")
	tests := map[string]struct {
		why   string
		input string
		args  []string
		want  end
	}{
		"Moves":   {"Both fit on one, which takes some waiting for in a cluster and none here.", fmt.Sprintf(moving, "0") + two, nil, end{"disrupt", []string{"n2: default/a default/b"}, 1, 1}},
		"Budgets": {"Unless budgets are to count.", fmt.Sprintf(moving, "0") + two, []string{"--respect-budgets"}, end{"disrupt", []string{"n1: default/a", "n2: default/b"}, 0, 0}},
		"Empty":   {"A node that runs nothing goes.", fmt.Sprintf(moving, "100%") + nodeOf("n1") + nodeOf("n2") + bound("a", "n1", "7"), nil, end{"disrupt", []string{"n1: default/a"}, 0, 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, _, err := run(t, tc.input, append(tc.args, "--mode", "disrupt", "-o", "json")...)
			if err != nil {
				t.Fatal(err)
			}
			var r struct {
				engine.Result

				Consolidation struct {
					After struct {
						Nodes int `json:"nodes"`
					} `json:"after"`
					PodMoves int   `json:"podMoves"`
					Actions  []any `json:"actions"`
				} `json:"consolidation"`
			}
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				t.Fatal(err)
			}
			got := end{Mode: r.Mode, Moves: r.Consolidation.PodMoves, Steps: len(r.Consolidation.Actions)}
			for _, n := range r.Nodes {
				got.Nodes = append(got.Nodes, n.Name+": "+strings.Join(n.Pods, " "))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || r.Consolidation.After.Nodes != len(r.Nodes) {
				t.Errorf("%s -want +got\n%s%s", tc.why, diff, out)
			}
		})
	}
}
