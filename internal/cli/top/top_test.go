package top_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/top"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/web"
	"github.com/tenon-sh/tenon/internal/web/live"
)

const objects = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}]
---
apiVersion: v1
kind: Node
metadata:
  name: ip-1.ec2.internal
  labels: {node.kubernetes.io/instance-type: m5.large, topology.kubernetes.io/zone: us-east-1a, karpenter.sh/capacity-type: spot, karpenter.sh/nodepool: general, kubernetes.io/os: linux, kubernetes.io/arch: amd64, example.com/team: red}
spec: {providerID: "aws:///us-east-1a/i-1"}
status:
  allocatable: {cpu: "2", memory: 7Gi, pods: "29"}
  capacity: {cpu: "2", memory: 8Gi, pods: "29"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, creationTimestamp: "2026-05-04T10:00:00Z"}
spec:
  nodeSelector: {disk: ssd}
  containers: [{name: c, resources: {requests: {cpu: "1"}}}]
status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}
`

func file(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(name, []byte(objects), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func run(t *testing.T, args ...string) (string, string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	root := &cobra.Command{Use: "tenon"}
	root.AddCommand(top.Command())
	status := verb.Run(t.Context(), root, append([]string{"top"}, args...), verb.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	if status == verb.OK {
		return out.String(), errs.String(), nil
	}
	err := verb.BadInputf("%s", errs.String())
	if status == verb.Failed {
		t.Logf("failed, not unusable: %v", err)
	}
	return out.String(), errs.String(), err
}

// Where the output is no terminal it is written once.
func TestWrittenOnce(t *testing.T) {
	out, _, err := run(t, "-f", file(t), "--extra-labels", "example.com/team, kubernetes.io/arch")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 node · 0 pods, 1 waiting", "NODE↑", "ip-1.ec2.internal  ready", "TEAM  ARCH", "red   amd64", "1 pod without a node:", "refused     1  shop/web"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	// A manifest does not say since when its pod waits, and what is against a pod is a sentence.
	out, _, err = run(t, "-f", "../../../docs/guide/first-plan.yaml")
	if err != nil || !strings.Contains(out, "refused     1  default/training         NodePool default: nvidia.com/gpu wants 1, has 0, on every type that would do otherwise") || strings.Contains(out, "no-place") {
		t.Errorf("%v\n%s", err, out)
	}
	out, _, err = run(t, "-f", file(t), "-o", "json", "--node-selector", "karpenter.sh/capacity-type=on-demand")
	var got struct {
		Format  string
		Totals  live.Totals
		Nodes   []live.Node
		Waiting []live.Group
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if err != nil || got.Format != "tenon-top/v1" || len(got.Nodes) != 0 || len(got.Waiting) != 1 || got.Totals.Price != 0 {
		t.Errorf("no node is on demand: %v, %+v", err, got)
	}
}

// The controller is asked where there is one.
func TestAsksTheController(t *testing.T) {
	b := world.NewBuilder()
	if err := b.SetNode(world.Node{Name: "told-by-the-controller", Ready: true}); err != nil {
		t.Fatal(err)
	}
	w := b.Snapshot(1)
	leads := true
	next := func() (journal.Entry, bool) { return journal.Entry{World: w}, leads }
	now := func() *world.World { return w }
	j := journal.New(4, "v1", nil)
	j.Add(journal.Entry{Kind: journal.Buy, World: w, Plan: provision.Decide(w, provision.Options{})})
	for name, tc := range map[string]struct {
		history *live.History
		leads   bool
		want    string
	}{
		"Live":        {live.NewHistory(now, panics.Teller{}), true, "told-by-the-controller  ready"},
		"NotLeading":  {live.NewHistory(now, panics.Teller{}), false, "this replica does not decide: another one leads"},
		"LivePageOff": {nil, true, "the controller's live page is off, or it is an older release (settings.livePage of the chart)"},
	} {
		t.Run(name, func(t *testing.T) {
			leads = tc.leads
			h := web.Handler(web.Config{Decisions: j, World: now, Next: next, History: tc.history})
			s := httptest.NewServer(h)
			defer s.Close()
			out, errs, _ := run(t, "--controller", s.URL)
			if !strings.Contains(out+errs, tc.want) {
				t.Errorf("there is no %q in\n%s%s", tc.want, out, errs)
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"Sort":       {[]string{"-f", file(t), "--sort", "prize"}, `--sort: there is no column "prize" to order by: there is node, state`},
		"Selector":   {[]string{"-f", file(t), "--node-selector", "a=b=c"}, "--node-selector: "},
		"File":       {[]string{"-f", "no-such-file.yaml"}, "no-such-file.yaml"},
		"Argument":   {[]string{"nodes"}, `top takes no argument and got "nodes"`},
		"Controller": {[]string{"--controller", "karpenter"}, "want NAMESPACE/SERVICE or the URL of its pages"},
		"Refused":    {[]string{"--controller", "http://127.0.0.1:1"}, "connection refused; does a controller listen there?"},
		"Flag":       {[]string{"--extra-label", "a"}, "did you mean --extra-labels"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, errs, err := run(t, tc.args...); err == nil || !strings.Contains(errs, tc.want) {
				t.Errorf("got %v, %s%s; want %q", err, out, errs, tc.want)
			}
		})
	}
}
