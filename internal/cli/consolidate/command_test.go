package consolidate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	engine "github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/internal/cli/consolidate"
	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// run runs the verb on input given on standard input.
func run(t *testing.T, input string, args ...string) (out, notes string, err error) {
	t.Helper()
	cmd := consolidate.Command("test")
	var stdout, stderr bytes.Buffer
	cmd.SetIn(strings.NewReader(input))
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{"-f", "-"}, args...))
	err = cmd.Execute()
	return stdout.String(), stderr.String(), err
}

func pool(disruption string) string {
	return `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"general"},"spec":{"template":{"spec":{
		"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"default"},
		"requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["on-demand"]},{"key":"kubernetes.io/arch","operator":"In","values":["amd64"]},
			{"key":"karpenter.k8s.aws/instance-family","operator":"In","values":["m5"]}]}},
		"disruption":` + disruption + `}}` + "\n"
}

func node(name, kind, cpu, memory string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":{"karpenter.sh/nodepool":"general","karpenter.sh/initialized":"true",
		"node.kubernetes.io/instance-type":%q,"topology.kubernetes.io/zone":"us-east-1a","karpenter.sh/capacity-type":"on-demand",
		"kubernetes.io/arch":"amd64","kubernetes.io/os":"linux","kubernetes.io/hostname":%q}},
		"status":{"allocatable":{"cpu":%q,"memory":%q,"pods":"29"},"capacity":{"cpu":%q,"memory":%q,"pods":"29"},"conditions":[{"type":"Ready","status":"True"}]}}`+"\n",
		name, kind, name, cpu, memory, cpu, memory)
}

func pod(name, node, cpu, annotations string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"annotations":{%s},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"web","controller":true}]},"spec":{"nodeName":%q,
		"containers":[{"name":"a","resources":{"requests":{"cpu":%q}}}]},"status":{"phase":"Running"}}`+"\n", name, annotations, node, cpu)
}

const (
	usual  = `{"consolidationPolicy":"WhenEmptyOrUnderutilized","consolidateAfter":"0s","budgets":[{"nodes":"100%"}]}`
	stays  = `"karpenter.sh/do-not-disrupt":"true"`
	closed = `{"consolidationPolicy":"WhenEmptyOrUnderutilized","consolidateAfter":"0s","budgets":[{"nodes":"0"}]}`
	empty  = `{"consolidationPolicy":"WhenEmpty","consolidateAfter":"0s"}`
)

func TestConsolidate(t *testing.T) {
	two := node("big", "m5.4xlarge", "15", "60Gi") + node("small", "m5.large", "1900m", "7Gi")
	tests := map[string]struct {
		why   string
		input string
		args  []string
		now   engine.BackSum
		all   int // commands
		buys  []string
		kept  map[string]reason.Code
	}{
		"Delete": {
			why:   "A node whose pod fits on another one goes, and nothing is bought.",
			input: pool(usual) + two + pod("a", "big", "500m", "") + pod("b", "small", "500m", stays),
			now:   engine.BackSum{Commands: 1, Nodes: 1, Pods: 1, Saving: 0.768}, all: 1,
			kept: map[string]reason.Code{"small": reason.DoNotDisrupt},
		},
		"Meant": {
			why:   "An empty node that a waiting pod is meant for stays.",
			input: pool(usual) + node("big", "m5.4xlarge", "15", "60Gi") + pod("a", "", "1500m", ""),
			kept:  map[string]reason.Code{"big": reason.Promised},
		},
		"Replace": {
			why:   "A node that is too large is replaced.",
			input: pool(usual) + node("big", "m5.4xlarge", "15", "60Gi") + pod("a", "big", "1500m", ""),
			now:   engine.BackSum{Commands: 1, Nodes: 1, NewNodes: 1, Pods: 1, Saving: 0.672}, all: 1,
			buys: []string{"m5.large"}, kept: map[string]reason.Code{},
		},
		"Right": {
			why:   "A node that is as its pods need it stays.",
			input: pool(usual) + node("small", "m5.large", "1900m", "7Gi") + pod("a", "small", "1500m", ""),
			kept:  map[string]reason.Code{"small": reason.NotCheaper},
		},
		"Budget": {
			why:   "What a budget holds up is told.",
			input: pool(closed) + two + pod("a", "big", "500m", "") + pod("b", "small", "500m", stays),
			all:   1, kept: map[string]reason.Code{"small": reason.DoNotDisrupt},
		},
		"IgnoreBudgets": {
			why:   "And not with this flag.",
			input: pool(closed) + two + pod("a", "big", "500m", "") + pod("b", "small", "500m", stays),
			args:  []string{"--ignore-budgets"},
			now:   engine.BackSum{Commands: 1, Nodes: 1, Pods: 1, Saving: 0.768}, all: 1,
			kept: map[string]reason.Code{"small": reason.DoNotDisrupt},
		},
		"WhenEmpty": {
			why:   "The pool gives back empty nodes only.",
			input: pool(empty) + two + pod("a", "big", "500m", "") + pod("b", "small", "500m", ""),
			kept:  map[string]reason.Code{"big": reason.Policy, "small": reason.Policy},
		},
		"Saving": {
			why:   "Nothing saves as much as is asked for.",
			input: pool(usual) + two + pod("a", "big", "500m", "") + pod("b", "small", "500m", stays),
			args:  []string{"--least-saving", "1"},
			kept:  map[string]reason.Code{"small": reason.DoNotDisrupt, "big": reason.SavesLittle},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, _, err := run(t, tc.input, append(tc.args, "-o", "json")...)
			if err != nil {
				t.Fatal(err)
			}
			var r engine.BackResult
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				t.Fatal(err)
			}
			var buys []string
			for _, c := range r.Commands {
				for _, n := range c.New {
					buys = append(buys, n.InstanceType)
				}
			}
			kept := map[string]reason.Code{}
			for _, k := range r.Kept {
				kept[k.Node] = k.Why.Code
			}
			if diff := cmp.Diff([]any{tc.now, tc.all, tc.buys, tc.kept}, []any{r.Now, len(r.Commands), buys, kept}); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

func TestText(t *testing.T) {
	input := pool(usual) + node("big", "m5.4xlarge", "15", "60Gi") + node("small", "m5.large", "1900m", "7Gi") + pod("a", "big", "500m", "") + pod("b", "small", "500m", stays)
	out, notes, err := run(t, input)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1 could be given back: that saves $0.7680 an hour (89 %) and moves 1 pod.",
		"- big (m5.4xlarge us-east-1a on-demand $0.7680)  saves $0.7680, moves 1 pod\n    = small takes 1 pod: default/a",
		"default/b: do-not-disrupt (it is annotated karpenter.sh/do-not-disrupt) → take the annotation off",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the text does not say %q:\n%s", want, out)
		}
	}
	if !strings.Contains(notes, "2 nodes of pools have no NodeClaim") {
		t.Errorf("the notes say %q", notes)
	}
	out, _, err = run(t, input, "small")
	if err != nil || strings.Contains(out, "big") || !strings.Contains(out, "do-not-disrupt") {
		t.Errorf("asked about one node, it says (%v)\n%s", err, out)
	}
}

// Of an empty node that a budget keeps it is told once why it stays; with the flag it goes.
func TestTextOfEmptyNodes(t *testing.T) {
	input := pool(closed) + node("big", "m5.4xlarge", "15", "60Gi") + node("small", "m5.large", "1900m", "7Gi")
	out, _, err := run(t, input)
	if err != nil {
		t.Fatal(err)
	}
	_, stay, _ := strings.Cut(out, "\nStay, because:\n")
	if lines := strings.Split(strings.TrimSpace(stay), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "big, empty: disruption-budget (") {
		t.Errorf("it says\n%s", out)
	}
	out, _, err = run(t, input, "--ignore-budgets")
	if err != nil || !strings.Contains(out, "Go anyway:\n- big (m5.4xlarge us-east-1a on-demand $0.7680): empty\n- small ") || strings.Contains(out, "Stay") {
		t.Errorf("without budgets it says (%v)\n%s", err, out)
	}
}

func TestRefusesNonsense(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"Node":  {[]string{"absent"}, `there is no node or claim "absent"`},
		"Move":  {[]string{"--move-cost", "-1"}, "--move-cost is -1"},
		"Level": {[]string{"--level", "brave"}, `--level is "brave", want cautious, normal or eager`},
		"Share": {[]string{"--move-share", "-5"}, "--move-share is -5"},
		"NaN":   {[]string{"--least-saving", "NaN"}, "--least-saving is NaN"},
		"Group": {[]string{"--group", "0"}, "--group is 0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := run(t, pool(usual), tc.args...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
	if _, _, err := run(t, "nonsense: ["); verb.Status(err) != verb.Status(verb.BadInputf("x")) {
		t.Errorf("a file that cannot be read is %v", err)
	}
}

// A cluster without nodes is answered, too.
func TestNothingToGiveBack(t *testing.T) {
	if out, _, err := run(t, pool(usual)); err != nil || out != "There is no node, so none could be given back.\n" {
		t.Errorf("it says %q (%v)", out, err)
	}
}
