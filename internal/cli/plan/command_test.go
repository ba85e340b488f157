package plan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/engine/enginetest"
	engine "github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/plan"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/observe"
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

// The same files are the same world wherever they and the catalogue lie, and whenever they are read.
func TestSameFilesSameDigest(t *testing.T) {
	catalog, err := os.ReadFile("testdata/catalog.json")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.json")
	if err := os.WriteFile(elsewhere, catalog, 0o600); err != nil {
		t.Fatal(err)
	}
	here := result(t, pool+podOf("a", "1"))
	if there := result(t, podOf("a", "1")+pool, "--catalog", elsewhere); there.Digest != here.Digest {
		t.Errorf("digest %s, and %s from another folder", here.Digest, there.Digest)
	}
	if other := result(t, pool+podOf("a", "2")); other.Digest == here.Digest {
		t.Errorf("another pod has the same digest %s", here.Digest)
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
		"JobSuspended":  {"Nothing runs of a job that is suspended.", pool + strings.Replace(job, `"completions":2`, `"completions":2,"suspend":true`, 1), 0},
		"JobAdvanced":   {"What a job has done it does not do again.", pool + strings.Replace(job, "}}\n", `},"status":{"succeeded":1}}`, 1), 1},
		"JobOver":       {"Nothing runs of a job that has ended.", pool + strings.Replace(job, "}}\n", `},"status":{"conditions":[{"type":"Failed","status":"True"}]}}`, 1), 0},
		"Controller":    {"The oldest of all controllers makes pods, too.", pool + strings.NewReplacer("apps/v1", "v1", "Deployment", "ReplicationController").Replace(deployment), 3},
		"SameNames":     {"A Deployment and a StatefulSet may share a name, and a pod have one of theirs.", pool + deployment + strings.Replace(deployment, "Deployment", "StatefulSet", 1) + podOf("web-1", "1"), 7},
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
	pod := func(body string) string { return "kind: Pod\napiVersion: v1\nmetadata: {name: p}\n" + body }
	tests := map[string]struct {
		input string
		args  []string
		want  string
	}{
		"Nothing":      {input: "# only a comment\n", want: "-: no document in it"},
		"NoKind":       {input: "a: 1\n", want: "-: document 1 (line 1): kind is missing"},
		"Truncated":    {input: pool + `{"apiVersion":"v1","kind":"Pod","metadata":{"name":`, want: "-: document 2 (line 2): line 2: unexpected end of JSON input; is the file complete?"},
		"BadQuantity":  {input: podOf("a", "lots"), want: `spec.containers[0].resources.requests.cpu: "lots" is not a quantity such as 250m, 2 or 4Gi`},
		"MapAsAmount":  {input: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":{}}}}]}}`, want: "spec.containers[0].resources.requests.cpu: a map is not a quantity"},
		"ListAsAmount": {input: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":[1]}}}]}}`, want: "spec.containers[0].resources.requests.cpu: a list is not a quantity"},
		"Infinite":     {input: pod("spec: {overhead: {cpu: .inf}}"), want: "an amount is a number such as 250m, 2 or 4Gi"},
		"WrongType":    {input: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"priority":"high"}}`, want: "Pod: spec.priority is text, where a whole number belongs"},
		"YesIsNoText":  {input: "kind: Node\napiVersion: v1\nmetadata: {name: n}\n", want: "metadata.name is true or false, where text belongs; YAML takes y, n, yes, no, on and off for that: put it in quotes"},
		"Scalar":       {input: "hello\n", want: "-: document 1 (line 1): it is text: every document is a map with apiVersion and kind"},
		"Number":       {input: "42\n", want: "it is a number: every document is a map"},
		"Absurd":       {input: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":2000000000,"template":{}}}`, want: "Deployment d: spec.replicas is 2000000000"},
		"Twice":        {input: podOf("a", "1") + podOf("a", "1"), want: "v1 Pod default/a is there twice: the first is -: document 1 (line 1)"},
		"PoolTwice":    {input: pool + pool, want: "karpenter.sh/v1 NodePool general is there twice"},
		"KeyTwice":     {input: pool + "---\n" + pod("spec: {}\nspec: {}\n"), want: `document 2 (line 3): line 7: key "spec" already set in map`},
		"KeyNull":      {input: pool + "---\n" + pod("spec: {~: []}\n"), want: "document 2 (line 3): a key is null, where text belongs"},
		"KindNoName":   {input: "apiVersion: \"\\0\"\nkind: Pod\n", want: `document 1 (line 1): apiVersion "\x00" and kind "Pod" cannot both be names`},
		"FieldTwice":   {input: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","name":"q"}}`, want: "Pod: metadata.name is there twice"},
		"Tab":          {input: pod("spec:\n\tcontainers: []\n"), want: "line 5: found character that cannot start any token; YAML is indented with blanks"},
		"Template":     {input: "kind: Pod\nmetadata: {name: {{ .Values.name }}}\n", want: "it looks like a template: render it first"},
		"Latin":        {input: pod("# caf\xe9\n"), want: "save the file as UTF-8"},
		"UTF16":        {input: "\xff\xfek\x00", want: "the text is UTF-16: save the file as UTF-8"},
		"NotText":      {input: "\x00\x01", want: "byte 0 is NUL"},
		"Mode":         {input: pool, args: []string{"--mode", "delete"}, want: "want provision or disrupt"},
		"Budgets":      {input: pool, args: []string{"--respect-budgets"}, want: "goes with --mode disrupt"},
		"Policy":       {input: pool, args: []string{"--preference-policy", "maybe"}, want: `--preference-policy is "maybe", want Respect or Ignore`},
		"NoSuchFile":   {args: []string{"-f", "testdata/nothing.yaml"}, want: "testdata/nothing.yaml: no such file"},
		"NoCatalogue":  {input: pool, args: []string{"--catalog", "testdata/small.yaml"}, want: "read catalogue testdata/small.yaml: it is not JSON of the format tenon-catalog/v1"},
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

// A variable that is not set is not taken for the wish to look at the current cluster.
func TestNoFileIsNoCluster(t *testing.T) {
	cmd := plan.Command("test")
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"-f", ""})
	if err := cmd.Execute(); verb.Status(err) != verb.Unusable || !strings.Contains(fmt.Sprint(err), "-f names no file") {
		t.Errorf("said %v", err)
	}
}

// A plan for a live cluster says that it does not know what its controller knows of prices and of what is sold out.
func TestLivePlanSaysWhatItDoesNotKnow(t *testing.T) {
	empty := httptest.NewServer(http.NotFoundHandler()) // an API server that has none of the kinds
	defer empty.Close()
	config := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`, empty.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"text", "json"} {
		cmd := plan.Command("test")
		var out, notes bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&notes)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs([]string{"--kubeconfig", config, "--region", "eu-central-1", "-o", form})
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		const want = "prices and availability are those of the catalogue (bundled eu-central-1), not the controller's"
		if got := out.String(); strings.Count(got+notes.String(), want) != 1 || !strings.Contains(got, want) {
			t.Errorf("as %s the plan does not say %q once:\n%s\n%s", form, want, got, notes.String())
		}
	}
	if out, notes, err := run(t, pool); err != nil || strings.Contains(out+notes, "not the controller's") {
		t.Errorf("a plan for files says it, too: %v\n%s", err, out+notes)
	}
}

// asking runs the verb against an API server.
func asking(t *testing.T, api http.HandlerFunc, args ...string) (out, notes string) {
	t.Helper()
	out, notes, err := ask(t, api, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out, notes
}

// ask is asking that may fail.
func ask(t *testing.T, api http.HandlerFunc, args ...string) (out, notes string, err error) {
	t.Helper()
	server := httptest.NewServer(api)
	defer server.Close()
	config := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`, server.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := plan.Command("test")
	var said, noted bytes.Buffer
	cmd.SetOut(&said)
	cmd.SetErr(&noted)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{"--kubeconfig", config}, args...))
	err = cmd.Execute()
	return said.String(), noted.String(), err
}

// services answers for a cluster with the chart's Service, behind which is a controller.
func services(controller http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/services":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"apiVersion":"v1","kind":"ServiceList","items":[{"metadata":{"namespace":"karpenter","name":"karpenter"},"spec":{"ports":[{"name":"http-metrics","port":8080}]}}]}`)
		case "/api/v1/namespaces/karpenter/services/karpenter:http-metrics/proxy/now":
			controller(w, r)
		default:
			http.NotFound(w, r)
		}
	}
}

// The controller of a live cluster is asked for what it decides by: nothing else is read, and the plan is its own.
func TestLivePlanAsksTheController(t *testing.T) {
	s := enginetest.NewScene()
	for _, line := range []string{"type only cpu=4 memory=8Gi price=0.5 zones=a", "pool p", "pod web cpu=1"} {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	entry := journal.Entry{Kind: journal.Buy, World: s.World(), Options: journal.Options{Provision: provision.Options{SpotPremium: 7}}}
	var asked []string
	replica := func(w http.ResponseWriter, r *http.Request) {
		if asked = append(asked, r.URL.Path); len(asked) == 1 {
			http.Error(w, "another one leads", http.StatusServiceUnavailable)
			return
		}
		if err := entry.Write(w); err != nil {
			t.Error(err)
		}
	}
	out, notes := asking(t, services(replica))
	for _, want := range []string{" only ", "Decided as the controller karpenter/karpenter would now"} {
		if !strings.Contains(out, want) {
			t.Errorf("the plan lacks %q:\n%s%s", want, out, notes)
		}
	}
	if len(asked) != 2 || strings.Contains(out+notes, "not the controller's") {
		t.Errorf("the controller was asked %d times, and it says\n%s%s", len(asked), out, notes)
	}
	if out, _ := asking(t, services(replica), "--controller", "karpenter/karpenter", "--sold-out", "only", "-o", "json"); !strings.Contains(out, `"catalog": "controller karpenter/karpenter"`) || !strings.Contains(out, `"whatIf"`) {
		t.Errorf("what is supposed is not supposed of the controller's world:\n%s", out)
	}
}

// A NodeOverlay that is supposed counts for the controller's world as it would for the controller: beside those that
// it follows already, of which the heavier one says the price.
func TestLivePlanWithAnOverlay(t *testing.T) {
	s := enginetest.NewScene()
	for _, line := range []string{"type only cpu=4 memory=8Gi price=0.5 zones=a", "type other cpu=4 memory=8Gi price=0.6 zones=a", "pool p", "pod web cpu=1"} {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	overlay := func(name, kind, price string, weight int) string {
		return fmt.Sprintf(`{"apiVersion":"karpenter.sh/v1alpha1","kind":"NodeOverlay","metadata":{"name":%q},"spec":{"weight":%d,"price":%q,"requirements":[{"key":"node.kubernetes.io/instance-type","operator":"In","values":[%q]}]}}`, name, weight, price, kind)
	}
	heavy := overlay("heavy", "other", "0.9", 10)
	corrected := func(w *world.World) *world.World {
		var o v1alpha1.NodeOverlay
		if err := json.Unmarshal([]byte(heavy), &o); err != nil {
			t.Fatal(err)
		}
		read, err := observe.NodeOverlay(&o)
		if err != nil {
			t.Fatal(err)
		}
		p := w.Pools()[0]
		changed, _ := observe.Lay([]observe.View{{Pool: *p, Catalog: *w.Catalog(p.Template)}}, []observe.Overlay{read})
		changed[0].Catalog.Template = p.Template.For(p.ID)
		b := w.Edit()
		if err := b.SetCatalog(changed[0].Catalog); err != nil {
			t.Fatal(err)
		}
		return b.Snapshot(w.At())
	}
	tests := map[string]struct {
		why   string
		world *world.World
		list  int    // status of the list of NodeOverlays
		add   string // what is supposed
		want  string
		says  string
	}{
		"First":      {"Nothing is corrected yet, so nothing else has to be known.", s.World(), http.StatusForbidden, overlay("new", "other", "0.1", 1), "other", "feature gate NodeOverlay"},
		"Outweighed": {"The heavier one that is there says the price.", corrected(s.World()), http.StatusOK, overlay("new", "other", "0.1", 1), "only", "Decided as"},
		"Heavier":    {"The new one outweighs it.", corrected(s.World()), http.StatusOK, overlay("new", "other", "0.1", 20), "other", "Decided as"},
		"Replaced":   {"One of the same name stands in its place.", corrected(s.World()), http.StatusOK, overlay("heavy", "other", "0.1", 1), "other", "Decided as"},
		"Unknown":    {"What is there cannot be seen, so nothing is claimed.", corrected(s.World()), http.StatusForbidden, overlay("new", "other", "0.1", 20), "", "--add: the NodeOverlays of the cluster count as well, and cannot be read: list nodeoverlays of"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "overlay.yaml")
			if err := os.WriteFile(file, []byte(tc.add), 0o600); err != nil {
				t.Fatal(err)
			}
			behind := services(func(w http.ResponseWriter, _ *http.Request) {
				if err := (journal.Entry{Kind: journal.Buy, World: tc.world}).Write(w); err != nil {
					t.Error(err)
				}
			})
			out, notes, err := ask(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/apis/karpenter.sh/v1alpha1/nodeoverlays" {
					behind(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tc.list)
				if tc.list == http.StatusOK {
					fmt.Fprintf(w, `{"apiVersion":"karpenter.sh/v1alpha1","kind":"NodeOverlayList","metadata":{},"items":[%s]}`, heavy)
				} else {
					fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"nodeoverlays is forbidden","reason":"Forbidden","code":403}`)
				}
			}, "--add", file)
			all := out + notes
			if err != nil {
				all += err.Error()
			}
			if !strings.Contains(all, tc.says) || (err == nil) != (tc.want != "") || tc.want != "" && !strings.Contains(out, "  "+tc.want+"  ") {
				t.Errorf("%s: it says (%v)\n%s", tc.why, err, all)
			}
		})
	}
}

// The pages of a controller can be named by their URL, and then the API server need not reach it.
func TestLivePlanAsksAtAURL(t *testing.T) {
	s := enginetest.NewScene()
	for _, line := range []string{"type only cpu=4 memory=8Gi price=0.5 zones=a", "pool p", "pod web cpu=1"} {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/now" {
			http.NotFound(w, r)
		} else if err := (journal.Entry{Kind: journal.Buy, World: s.World()}).Write(w); err != nil {
			t.Error(err)
		}
	}))
	defer pages.Close()
	if out, _ := asking(t, http.NotFound, "--controller", pages.URL+"/"); !strings.Contains(out, "Decided as the controller "+pages.URL+"/ would now") {
		t.Errorf("it is not asked:\n%s", out)
	}
	if out, _ := asking(t, http.NotFound, "--controller", pages.URL+"/elsewhere"); !strings.Contains(out, pages.URL+"/elsewhere/now: it does not say what it decides by") {
		t.Errorf("it does not say what is wrong:\n%s", out)
	}
}

func TestControllerIsNamedWrongly(t *testing.T) {
	cmd := plan.Command("test")
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"--controller", "karpenter"})
	if err := cmd.Execute(); verb.Status(err) != verb.Unusable || !strings.Contains(fmt.Sprint(err), `--controller is "karpenter", want NAMESPACE/SERVICE or the URL of its pages`) {
		t.Errorf("said %v", err)
	}
}

// Where the controller does not answer, the plan says why.
func TestLivePlanSaysWhyTheControllerDidNotAnswer(t *testing.T) {
	for want, controller := range map[string]http.HandlerFunc{
		"it is another program, or an older release": http.NotFound,
		"another one leads": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "another one leads", http.StatusServiceUnavailable)
		},
		"a Role with get on services/proxy is needed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"services \"karpenter:http-metrics\" is forbidden","reason":"Forbidden","code":403}`)
		},
		"error trying to reach service: dial tcp": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"error trying to reach service: dial tcp 192.0.2.2:8080: connect: connection refused","reason":"ServiceUnavailable","code":503}`)
		},
		"its answer holds no world": func(http.ResponseWriter, *http.Request) {},
	} {
		if out, _ := asking(t, services(controller)); !strings.Contains(out, "not the controller's") || !strings.Contains(out, "service karpenter/karpenter: ") || !strings.Contains(out, want) {
			t.Errorf("the plan lacks %q:\n%s", want, out)
		}
	}
	if out, _ := asking(t, http.NotFound); !strings.Contains(out, "look for its Service") && !strings.Contains(out, "no Service has the label") {
		t.Errorf("it does not say that there is none:\n%s", out)
	}
}

// What counts for nothing, or is hardly meant, is said.
func TestNotes(t *testing.T) {
	tests := map[string]struct {
		why, input, want string
	}{
		"UnknownKind":  {"It may matter to others.", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"}}`, "skipped 1 of kind v1 Service, which a plan does not depend on"},
		"SmallLetters": {"Kinds are told apart by case.", `{"apiVersion":"v1","kind":"pod","metadata":{"name":"s"}}`, "skipped 1 of kind v1 pod: the kind is written Pod"},
		"OldGroup":     {"A workload of an API that is gone would be left out in silence.", `{"apiVersion":"extensions/v1beta1","kind":"Deployment","metadata":{"name":"s"}}`, "skipped 1 of kind extensions/v1beta1 Deployment: only those of the group apps are read"},
		"CronJob":      {"It stands for no pods now.", `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"s"}}`, "skipped 1 of kind batch/v1 CronJob: its Jobs count once they are there"},
		"Class":        {"The catalogue says what a class would.", `{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","metadata":{"name":"s"}}`, "skipped 1 of kind karpenter.k8s.aws/v1 EC2NodeClass: what machines offer to pods is as the catalogue has it"},
		"UnknownField": {
			"A slip of the pen is not taken for a demand that is met.", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"nodeselector":{"a":"b"},"containers":[{"name":"c","resurces":{}},{"name":"d","resurces":{}}]}}`,
			"-: document 3 (line 3): Pod has no field spec.containers[].resurces: it is left out\nnote: -: document 3 (line 3): Pod has no field spec.nodeselector: it is left out",
		},
		"Node":     {"The pod takes room nowhere.", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"ghost"}}`, "node ghost is not in the input: pod default/p counts for nothing"},
		"Priority": {"Under a limit it matters.", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"priorityClassName":"high"}}`, `PriorityClass "high" is not in the input: pod default/p counts as of priority 0`},
		"Bytes": {
			"512m of memory is half a byte.", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"memory":"512m"}}}]}}}}`,
			"2 pods such as default/d-0 ask for 512m of memory, less than 1Mi: is the unit right?",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, notes, err := run(t, pool+podOf("a", "1")+tc.input)
			if err != nil {
				t.Fatal(err)
			}
			if want := "note: " + tc.want + "\n"; notes != want {
				t.Errorf("%s\nnotes %q\nwant  %q", tc.why, notes, want)
			}
		})
	}
}

// A pool that says what cannot be read is not used as if it had not said it.
func TestWrongPool(t *testing.T) {
	broken := strings.Replace(pool, `"requirements":[]`, `"requirements":[{"key":"kubernetes.io/arch","operator":"Within","values":["amd64"]}]`, 1)
	r := result(t, broken+podOf("a", "1"))
	if len(r.PodErrors) != 1 || !r.PodErrors[0].Why.Has(reason.NotReady) {
		t.Errorf("errors %+v, nodes %+v", r.PodErrors, r.Nodes)
	}
}

// What the API server would refuse by the rules of the CRD is not used when it stands in a file.
func TestPoolThatNoServerSaw(t *testing.T) {
	tests := map[string]struct{ from, to, want string }{
		"Label":  {`"requirements":[]`, `"requirements":[{"key":"karpenter.k8s.aws/instance-familly","operator":"In","values":["m5"]}]`, "did you mean karpenter.k8s.aws/instance-family?"},
		"Slip":   {`"requirements":[]`, `"requirements":[{"key":"karpenter.sh/capacity_type","operator":"In","values":["spot"]}]`, "did you mean karpenter.sh/capacity-type?"},
		"Set":    {`"template":{`, `"template":{"metadata":{"labels":{"karpenter.k8s.aws/instance-famly":"m5"}},`, "did you mean karpenter.k8s.aws/instance-family?"},
		"Ours":   {`"template":{`, `"template":{"metadata":{"labels":{"karpenter.sh/capacity-typ":"spot"}},`, "did you mean karpenter.sh/capacity-type?"},
		"Weight": {`"spec":{"template"`, `"spec":{"weight":1000,"template"`, "a weight is from 1 to 100"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text, _, err := run(t, strings.Replace(pool, tc.from, tc.to, 1)+podOf("a", "1"))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, "not-ready") || !strings.Contains(text, tc.want) {
				t.Errorf("the text lacks %q:\n%s", tc.want, text)
			}
		})
	}
}

// A pod that waits for its gates is neither pending nor unschedulable; the text names it.
func TestGatedPods(t *testing.T) {
	input := pool + podOf("a", "1") + `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"later"},"spec":{"schedulingGates":[{"name":"g"}],"containers":[{"name":"c"}]}}`
	if r := result(t, input); r.PendingPods != 1 || r.GatedPods != 1 || r.Unschedulable != 0 || len(r.PodErrors) != 0 {
		t.Errorf("%d pending, %d gated, %d unschedulable: %v", r.PendingPods, r.GatedPods, r.Unschedulable, r.PodErrors)
	}
	text, _, err := run(t, input)
	if err != nil || !strings.Contains(text, "1 pod waiting: 1 on 1 new node, 0 refused.") || !strings.Contains(text, ". gated 1 pod: default/later\n    scheduling-gated (g) → ") {
		t.Errorf("%v\n%s", err, text)
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
		"returns": strings.ReplaceAll(lines, "\n", "\r"),
		"marks":   "\ufeff%YAML 1.1\n--- # first\n" + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n...\n--- "),
		"flow":    strings.NewReplacer(`{"`, "{", `":`, ": ", `,"`, ", ").Replace(strings.ReplaceAll(lines, "\n", "\n---\n")),
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
	if _, _, err := run(t, string(data)+"\n"+string(data)); err == nil || !strings.Contains(err.Error(), "the first of 2 kept worlds") {
		t.Errorf("of a journal it says %v", err)
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

// A kind that is misspelt is not said to be of no importance.
func TestMisspeltKind(t *testing.T) {
	if _, notes, err := run(t, `{"apiVersion":"apps/v1","kind":"Deploymnt","metadata":{"name":"web"}}`); err != nil || !strings.Contains(notes, "skipped 1 of kind apps/v1 Deploymnt: did you mean Deployment?") {
		t.Errorf("it notes %q (%v)", notes, err)
	}
}

// A cluster that does not answer, or not to this user, comes with what helps.
func TestClusterThatShowsNothing(t *testing.T) {
	for want, status := range map[string]int{
		"ask for the right to list them, or for get on services/proxy": http.StatusForbidden,
		"log in again, or give another kubeconfig":                     http.StatusUnauthorized,
		"see whether `kubectl get nodes` reaches it":                   http.StatusNotImplemented,
	} {
		_, _, err := ask(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", status) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("status %d is told as %v", status, err)
		}
	}
}
