package plan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	engine "github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/plan"
	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// run runs the verb on input given on standard input.
func run(t *testing.T, input string, args ...string) (string, string, error) {
	t.Helper()
	cmd := plan.Command("test")
	var out, notes bytes.Buffer
	cmd.SetIn(strings.NewReader(input))
	cmd.SetOut(&out)
	cmd.SetErr(&notes)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{"-f", "-", "--catalog", "testdata/catalog.json"}, args...))
	err := cmd.Execute()
	return out.String(), notes.String(), err
}

func result(t *testing.T, input string, args ...string) engine.Result {
	t.Helper()
	out, _, err := run(t, input, append(args, "-o", "json")...)
	if err != nil {
		t.Fatal(err)
	}
	var r engine.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

const pool = `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"general"},"spec":{"template":{"spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"default"},"requirements":[]}}}}
`

func podOf(name, cpu string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q},"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":%q}}}]}}`+"\n", name, cpu)
}

func TestPlanOfFiles(t *testing.T) {
	small, err := os.ReadFile("testdata/small.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := result(t, string(small))
	if r.PendingPods != 6 || r.Unschedulable != 1 || r.ScheduledOnNewNodes != 5 || len(r.PodErrors) != 1 || r.PodErrors[0].Pod != "default/gpu" {
		t.Errorf("unexpected result: %+v", r)
	}
	if r.Format != "tenon-plan/v1" || r.Version != "test" || !strings.HasPrefix(r.Digest, "sha256:") || r.NewHourlyCost <= 0 {
		t.Errorf("the head of the result is wrong: %+v", r)
	}
	text, _, err := run(t, string(small))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"6 pods waiting: 5 on", "1 refused", "team In [x], but the label is not defined there"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}

// A dump of a live cluster holds a Deployment, its ReplicaSet and its Pods: they are counted once.
func TestOwnersAreCountedOnce(t *testing.T) {
	owned := func(kind, name, ownerKind, ownerName, spec string) string {
		return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":%q,"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"apps/v1","kind":%q,"name":%q,"uid":"u","controller":true}]},"spec":%s}`+"\n",
			kind, name, ownerKind, ownerName, spec)
	}
	template := `"template":{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}}`
	deployment := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":3,` + template + "}}\n"
	replicas := owned("ReplicaSet", "web-1", "Deployment", "web", `{"replicas":3,`+template+`}`)
	pod := strings.Replace(owned("Pod", "web-1-x", "ReplicaSet", "web-1", `{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}`), "apps/v1", "v1", 1)
	job := `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"parallelism":4,"completions":2,` + template + "}}\n"
	tests := map[string]struct {
		why, input string
		want       int
	}{
		"Deployment":    {"It stands for its replicas.", pool + deployment, 3},
		"WithReplicas":  {"Its ReplicaSet stands for the same pods.", pool + replicas + deployment, 3},
		"WithPods":      {"Where its pods are there, nothing stands for them.", pool + pod + replicas + deployment, 1},
		"Job":           {"A job runs no more pods than it needs completions.", pool + job, 2},
		"NoReplicasSet": {"One replica is the default.", pool + strings.Replace(deployment, `"replicas":3,`, "", 1), 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := result(t, tc.input).PendingPods; got != tc.want {
				t.Errorf("%s\n%d pods waiting, want %d", tc.why, got, tc.want)
			}
		})
	}
}

func TestUnusableInput(t *testing.T) {
	tests := map[string]struct {
		input string
		args  []string
		want  string
	}{
		"Nothing":      {input: "# only a comment\n", want: "-: no document in it"},
		"NoKind":       {input: "a: 1\n", want: "-: document 1 (line 1): kind is missing"},
		"Truncated":    {input: pool + `{"apiVersion":"v1","kind":"Pod","metadata":{"name":`, want: "-: document 2 (line 2)"},
		"BadQuantity":  {input: podOf("a", "lots"), want: `spec.containers[0].resources.requests.cpu: "lots" is not a quantity such as 250m, 2 or 4Gi`},
		"ListAsAmount": {input: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":[1]}}}]}}`, want: "spec.containers[0].resources.requests.cpu: a list is not a quantity"},
		"WrongType":    {input: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"priority":"high"}}`, want: "Pod: spec.priority is text, where a whole number belongs"},
		"Scalar":       {input: "hello\n", want: "-: document 1 (line 1): it is text: every document is a map with apiVersion and kind"},
		"Absurd":       {input: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":2000000000,"template":{}}}`, want: "Deployment d: spec.replicas is 2000000000"},
		"Twice":        {input: podOf("a", "1") + podOf("a", "1"), want: "v1 Pod default/a is there twice: the first is -: document 1 (line 1)"},
		"NotText":      {input: "\x00\x01", want: "byte 0 is NUL"},
		"Mode":         {input: pool, args: []string{"--mode", "disrupt"}, want: "--mode disrupt is not built yet"},
		"Policy":       {input: pool, args: []string{"--preference-policy", "maybe"}, want: `--preference-policy is "maybe", want Respect or Ignore`},
		"NoSuchFile":   {args: []string{"-f", "testdata/nothing.yaml"}, want: "testdata/nothing.yaml: no such file"},
		"NoSuchRegion": {input: pool, args: []string{"--catalog", "", "--region", "moon-1"}, want: `--region: no region "moon-1"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, _, err := run(t, tc.input, tc.args...)
			if err == nil {
				t.Fatalf("accepted:\n%s", out)
			}
			if verb.Status(err) != verb.Unusable || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("status %d: %v\nwant status %d with %q", verb.Status(err), err, verb.Unusable, tc.want)
			}
		})
	}
}

func TestUnknownKindsAreNoted(t *testing.T) {
	_, notes, err := run(t, pool+podOf("a", "1")+`{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if want := "note: skipped 1 of kind v1 Service, which a plan does not depend on\n"; notes != want {
		t.Errorf("notes %q, want %q", notes, want)
	}
}

// A pool that says what nobody can read is not used as if it had not said it.
func TestWrongPool(t *testing.T) {
	broken := strings.Replace(pool, `"requirements":[]`, `"requirements":[{"key":"kubernetes.io/arch","operator":"Within","values":["amd64"]}]`, 1)
	r := result(t, broken+podOf("a", "1"))
	if len(r.PodErrors) != 1 || !r.PodErrors[0].Why.Has(reason.NotReady) {
		t.Errorf("errors %+v, nodes %+v", r.PodErrors, r.Nodes)
	}
}

// Each pod of a StatefulSet has disks of its own, which bind it to places.
func TestStatefulSetWithDisks(t *testing.T) {
	set := func(name, class string) string {
		return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":%q},"spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"100m"}}}]}},"volumeClaimTemplates":[{"metadata":{"name":"disk"},"spec":{"storageClassName":%q}}]}}`+"\n", name, class)
	}
	class := `{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"fast"},"provisioner":"d","volumeBindingMode":"WaitForFirstConsumer","allowedTopologies":[{"matchLabelExpressions":[{"key":"topology.kubernetes.io/zone","values":["nowhere"]}]}]}` + "\n"
	out, notes, err := run(t, pool+set("bound", "fast")+set("free", "unheard-of")+class, "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var r engine.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Unschedulable != 2 || r.PodErrors[0].Pod != "default/bound-0" || r.ScheduledOnNewNodes != 2 {
		t.Errorf("refused %+v, placed %+v: the disks of one have no zone here", r.PodErrors, r.Nodes)
	}
	if !strings.Contains(notes, `StorageClass "unheard-of" is not in the input`) {
		t.Errorf("notes: %s", notes)
	}
}

// The order of documents and how they are written does not change the plan.
func TestFormsAreEqual(t *testing.T) {
	lines := pool + podOf("a", "1") + podOf("b", "2")
	list := `{"apiVersion":"v1","kind":"List","items":[` + strings.TrimSuffix(podOf("b", "2"), "\n") + "," + podOf("a", "1") + "," + pool + `]}`
	dir := t.TempDir()
	for i, doc := range strings.SplitAfter(strings.TrimSuffix(lines, "\n"), "\n") {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", 9-i)), []byte("---\n# a comment\n"+doc), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	typed := `{"apiVersion":"v1","kind":"PodList","items":[` + strings.ReplaceAll(strings.TrimSuffix(podOf("a", "1"), "\n")+","+podOf("b", "2"), `"apiVersion":"v1","kind":"Pod",`, "") + `]}`
	a, b, c := result(t, lines), result(t, list), result(t, "", "-f", dir)
	for name, input := range map[string]string{
		"remarks": "# a remark\n" + podOf("a", "1") + "# another\n" + podOf("b", "2") + "---\n# and one more\n" + pool,
		"stream":  strings.ReplaceAll(lines, "}\n", "}"),
		"array":   "[" + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", ",\n") + "]",
		"typed":   pool + "---\n" + typed,
		"ends":    strings.ReplaceAll(lines, "\n", "\r\n"),
	} {
		if diff := cmp.Diff(a.Nodes, result(t, input).Nodes); diff != "" {
			t.Errorf("lines and %s differ:\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(a.Nodes, b.Nodes); diff != "" {
		t.Errorf("lines and list differ:\n%s", diff)
	}
	if diff := cmp.Diff(a.Nodes, c.Nodes); diff != "" {
		t.Errorf("lines and folder differ:\n%s", diff)
	}
}

// A world that the controller kept gives the plan it gave there.
func TestReplay(t *testing.T) {
	b := world.NewBuilder()
	if err := b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "p"}, Waiting: true}); err != nil {
		t.Fatal(err)
	}
	w := b.Snapshot(1_800_000_000)
	data, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	r := result(t, string(data))
	if r.Digest != w.Digest() || r.PendingPods != 1 || r.Unschedulable != 1 {
		t.Errorf("another world was planned for: %+v", r)
	}
	if _, _, err := run(t, string(data)+"\n"+pool); err == nil || !strings.Contains(err.Error(), "decided about alone") {
		t.Errorf("a kept world beside other objects: %v", err)
	}
}

// An overlay makes another type the cheapest.
func TestOverlay(t *testing.T) {
	input := pool + podOf("a", "1")
	if got := result(t, input).Nodes[0].InstanceType; got != "m5.large" {
		t.Fatalf("without an overlay %s is bought", got)
	}
	overlay := `{"apiVersion":"karpenter.sh/v1alpha1","kind":"NodeOverlay","metadata":{"name":"paid"},"spec":{"price":"0.01","requirements":[{"key":"node.kubernetes.io/instance-type","operator":"In","values":["m5.2xlarge"]}]}}`
	n := result(t, input+overlay).Nodes[0]
	if n.InstanceType != "m5.2xlarge" || n.PricePerHour != 0.01 {
		t.Errorf("with an overlay %s is bought at %v", n.InstanceType, n.PricePerHour)
	}
}
