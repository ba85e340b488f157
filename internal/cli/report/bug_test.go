package report_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/replay"
	"github.com/tenon-sh/tenon/internal/cli/report"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/journal"
)

// decided are decisions about a cluster of which every name is hush-hush.
func decided(t *testing.T, n int) []journal.Entry {
	t.Helper()
	s := enginetest.NewScene()
	for _, line := range []string{
		"type large cpu=2 memory=8Gi price=0.0940 zones=a", "pool general",
		"node secret-node-1 cpu=2 memory=8Gi zone=a pool=general type=large", "node secret-node-2 cpu=2 memory=8Gi zone=a pool=general type=large",
		"pod secret-web cpu=1 memory=1Gi node=secret-node-1", "pod secret-new cpu=1500m memory=1Gi", "pod secret-more cpu=1500m memory=1Gi",
	} {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	b := s.World().Edit()
	if err := b.SetPod(world.Pod{Key: world.Key{Namespace: "secret-shop", Name: "secret-db"}, Labels: map[string]string{"app": "secret-app"}, Node: "secret-node-2"}); err != nil {
		t.Fatal(err)
	}
	var out []journal.Entry
	for i := range n {
		w := b.Snapshot(s.World().At() + int64(i))
		out = append(out, journal.Entry{Kind: journal.Buy, World: w, Plan: provision.Decide(w, provision.Options{}), Release: "v0"})
	}
	o := disrupt.Options{Planned: []string{"secret-node-1"}, Skip: []string{"secret-node-2"}, Marked: map[string]int64{"secret-node-2": 5}}
	w := b.Snapshot(s.World().At() + 99)
	return append(out, journal.Entry{Kind: journal.GiveBack, World: w, Options: journal.Options{Disrupt: o}, Plan: disrupt.Decide(w, o), Release: "v0"})
}

const (
	settings = `{"items": [{"metadata": {"namespace": "secret-home", "name": "karpenter"}, "spec": {"template": {"spec": {"containers": [{"name": "controller", "image": "registry.secret.example/tenon:v1",
		"args": ["controller", "--batch-max-duration=3s", "--cluster-name", "secret-cluster", "--token=hidden-value"],
		"env": [{"name": "CLUSTER_NAME", "value": "secret-cluster"}, {"name": "API_KEY", "value": "hidden-value"}, {"name": "LIVE_PAGE", "value": "true"}, {"name": "K", "valueFrom": {"secretKeyRef": {"name": "x", "key": "y"}}}]}]}}}}]}`
	class = `{"kind": "EC2NodeClassList", "apiVersion": "karpenter.k8s.aws/v1", "items": [{"kind": "EC2NodeClass", "apiVersion": "karpenter.k8s.aws/v1",
		"metadata": {"name": "secret-class", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "hidden-value", "karpenter.k8s.aws/hash": "77"}}, "spec": {"userData": "export KEY=hidden-value", "role": "secret-role"}}]}`
	events  = `{"items": [{"metadata": {"name": "e"}, "reason": "Launched", "message": "secret\u001b[2J message", "source": {"component": "karpenter"}}]}`
	metrics = "# HELP a\nkarpenter_pods_state{name=\"secret-web\",namespace=\"secret-shop\"} 1\nkarpenter_waits_bucket{le=\"5\"} 2\nup 1\n"
)

// cluster is an API server with a controller behind its proxy. Paths of answers are refused or absent where they are overridden.
func cluster(t *testing.T, kept []journal.Entry, other map[string]int) (config string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for part, code := range other {
			if strings.Contains(r.URL.Path, part) {
				w.WriteHeader(code)
				fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "reason": %q, "message": "secret refusal", "details": {"kind": "x"}}`, code, map[int]string{403: "Forbidden", 404: "NotFound", 503: "ServiceUnavailable"}[code])
				return
			}
		}
		switch p := r.URL.Path; {
		case p == "/version":
			fmt.Fprint(w, `{"gitVersion": "v1.35.1"}`)
		case strings.HasSuffix(p, "/proxy/metrics"):
			fmt.Fprint(w, metrics)
		case strings.HasSuffix(p, "/proxy/journal"):
			zipped := gzip.NewWriter(w)
			for _, e := range kept {
				if err := e.Write(zipped); err != nil {
					t.Error(err)
				}
			}
			_ = zipped.Close()
		case strings.HasSuffix(p, "/proxy/now"):
			if err := decided(t, 1)[0].Write(w); err != nil {
				t.Error(err)
			}
		case p == "/api/v1/services":
			fmt.Fprint(w, `{"items": [{"metadata": {"namespace": "karpenter", "name": "karpenter"}, "spec": {"ports": [{"name": "http-metrics", "port": 8080}]}}]}`)
		case strings.HasSuffix(p, "/deployments"):
			fmt.Fprint(w, settings)
		case strings.HasSuffix(p, "/ec2nodeclasses"):
			fmt.Fprint(w, class)
		case strings.HasSuffix(p, "/events"):
			fmt.Fprint(w, events)
		case strings.HasSuffix(p, "/nodes"), strings.HasSuffix(p, "/nodepools"), strings.HasSuffix(p, "/nodeclaims"):
			fmt.Fprint(w, `{"kind": "List", "apiVersion": "v1", "items": []}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	config = filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`, server.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

// run runs the verb, and returns what it says and what the file has.
func run(t *testing.T, config string, args ...string) (said string, parts map[string]string, name string, err error) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "bug.zip")
	cmd := report.Command("v9")
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(append([]string{"bug", "--kubeconfig", config, "--out", name}, args...))
	if err := cmd.Execute(); err != nil {
		return out.String(), nil, name, err
	}
	r, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	parts = map[string]string{}
	for _, f := range r.File {
		c, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(c)
		if err != nil {
			t.Fatal(f.Name, err)
		}
		parts[f.Name] = string(data)
	}
	return out.String(), parts, name, nil
}

// again replays a report.
func again(t *testing.T, name string) string {
	t.Helper()
	cmd := replay.Command()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs([]string{name, "--check"})
	if err := cmd.Execute(); err != nil {
		t.Errorf("replay: %v", err)
	}
	return out.String()
}

// A report has everything, says so, and holds no secret of the settings, the classes or the annotations.
func TestBug(t *testing.T) {
	said, parts, name, err := run(t, cluster(t, decided(t, 3), nil))
	if err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]string{
		"versions.json": "v1.35.1", "settings.json": `"LIVE_PAGE": "true"`, "objects/ec2nodeclasses.json": "secret-class", "events.json": "Launched", "metrics.txt": "karpenter_pods_state",
		"decisions/00001.json": "secret-web", "decisions/00004.json": "disruption", "README.txt": "the last 4 decisions",
	} {
		if !strings.Contains(parts[part], want) {
			t.Errorf("%s lacks %q: %.500s", part, want, parts[part])
		}
	}
	for part, text := range parts {
		if strings.Contains(text, "hidden-value") {
			t.Errorf("%s has a secret: %s", part, text)
		}
	}
	for _, want := range []string{"README.txt", "--scrub replaces names", "Written to " + name} {
		if want != "README.txt" && !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	if got := again(t, name); !strings.Contains(got, "4 decisions made again: 4 the same") {
		t.Errorf("replay says %s", got)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v %v", info.Mode(), err)
	}
}

// With --scrub no name is left in any part, whatever goes wrong, and decisions can still be made again.
func TestScrub(t *testing.T) {
	for what, other := range map[string]map[string]int{"all": nil, "no rights": {"deployments": 403, "/proxy/metrics": 503}} {
		said, parts, name, err := run(t, cluster(t, decided(t, 2), other), "--scrub")
		if err != nil {
			t.Fatal(err)
		}
		parts["what it says"] = strings.ReplaceAll(said, name, "")
		for part, text := range parts {
			for _, secret := range []string{"secret", "hidden-value"} {
				if i := strings.Index(strings.ReplaceAll(text, "(of a Secret)", ""), secret); i >= 0 && !strings.Contains(text[i:min(len(text), i+10)], "Secrets") {
					t.Errorf("%s: %s tells %.80q", what, part, text[max(0, i-40):])
				}
			}
		}
		if !strings.Contains(parts["decisions/00003.json"], "node_") || !strings.Contains(said, "decides 3 of them as the controller did, and 0 otherwise") {
			t.Errorf("%s: it says %s", what, said)
		}
		if got := again(t, name); !strings.Contains(got, "3 decisions made again: 3 the same") {
			t.Errorf("%s: replay says %s", what, got)
		}
	}
}

// What is not to be had is said with why, and the rest is there.
func TestBugWithout(t *testing.T) {
	tests := map[string]struct {
		why   string
		kept  []journal.Entry
		other map[string]int
		says  []string
		has   []string
		not   []string
	}{
		"NoController": {"Without a controller there are the objects.", nil, map[string]int{"services": 404}, []string{"decisions: controller: look for its Service", "metrics: controller"}, []string{"objects/ec2nodeclasses.json"}, []string{"metrics.txt"}},
		"NoRights":     {"Without rights it says so of each part.", nil, map[string]int{"/api": 403}, []string{"settings of the controller: secret refusal", "nodepools: secret refusal", "events: secret refusal", "decisions: "}, []string{"versions.json"}, []string{"settings.json"}},
		"NoJournal":    {"Where nothing was decided yet it is what would be decided now.", nil, nil, []string{"the last 1 decisions"}, []string{"decisions/00001.json"}, nil},
		"NoEvents":     {"One part less.", decided(t, 1), map[string]int{"events": 403}, []string{"events: secret refusal"}, []string{"decisions/00001.json"}, []string{"events.json"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			said, parts, _, err := run(t, cluster(t, test.kept, test.other))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.says {
				if !strings.Contains(said, want) || !strings.Contains(parts["README.txt"], want) {
					t.Errorf("%s\nno %q in %s", test.why, want, said)
				}
			}
			for _, want := range test.has {
				if parts[want] == "" {
					t.Errorf("%s\nno %s", test.why, want)
				}
			}
			for _, not := range test.not {
				if parts[not] != "" {
					t.Errorf("%s\n%s", test.why, not)
				}
			}
		})
	}
}

// A report without decisions, or one that is cut off, is refused by name.
func TestReplayOfNothing(t *testing.T) {
	_, _, name, err := run(t, cluster(t, nil, map[string]int{"services": 404}))
	if err != nil {
		t.Fatal(err)
	}
	refused := func(want string) {
		t.Helper()
		cmd := replay.Command()
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		cmd.SetArgs([]string{name})
		if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), want) || verb.Status(err) != verb.Unusable {
			t.Errorf("it says %v", err)
		}
	}
	refused("without decisions")
	if err := os.Truncate(name, 200); err != nil {
		t.Fatal(err)
	}
	refused("is cut off")
}

// The file is never larger than it may be: the oldest decisions are left out, and it says so.
func TestBugIsBounded(t *testing.T) {
	const limit = 64 << 10
	said, parts, name, err := run(t, cluster(t, decided(t, 60), nil), "--limit", fmt.Sprint(limit))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > limit || !strings.Contains(said, "oldest decisions: the file would become larger than --limit") || parts["decisions/00061.json"] == "" || parts["decisions/00001.json"] != "" {
		t.Errorf("%d bytes, %d parts: %s", info.Size(), len(parts), said)
	}
}

// A file that is there is not written over, and what cannot be meant is refused.
func TestBugIsRefused(t *testing.T) {
	config := cluster(t, nil, nil)
	taken := filepath.Join(t.TempDir(), "taken")
	if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"is there already, and is not written over": {"--out", taken}, "--limit is 5, want at least": {"--limit", "5"},
		"want NAMESPACE/SERVICE": {"--controller", "x"}, "takes no argument": {"more"},
	} {
		if _, _, _, err := run(t, config, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", args, err)
		} else if !strings.Contains(want, "argument") && verb.Status(err) != verb.Unusable {
			t.Errorf("%q is no failure of what was given: %v", args, err)
		}
	}
	if data, err := os.ReadFile(taken); err != nil || string(data) != "mine" {
		t.Error("it was written over")
	}
}
