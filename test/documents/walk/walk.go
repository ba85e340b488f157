// Package walk follows a document on a playground, as its reader would.
//
// A reader types the document's commands: kubectl and helm are real, the
// cluster is real, the cloud is simulated, and the controller is installed by
// the chart: its pods' log is read as it is written.
package walk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	_ "github.com/tenon-sh/tenon/internal/cli/controller" // what is built here: without it, go test would take a run from its cache
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/playground"
	"github.com/tenon-sh/tenon/internal/playground/document"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Commit is what the controller says it was built from.
const Commit = "d0c0de5"

// A Reader follows a document on a playground of its own, which ends with the test.
type Reader struct {
	Kube kubernetes.Interface
	Vars map[string]string // what the document's shell variables hold

	t       *testing.T
	d       document.Document
	told    *playground.Told
	contact playground.Contact
	read    int    // how much of the log was read over
	tools   string // the program that is kubectl and helm
}

// Boot is how long a machine of the playground takes from its start to a ready node.
const Boot = 800 * time.Millisecond

// Open starts a playground with what surrounds a document.
func Open(t *testing.T, id string) *Reader {
	t.Helper()
	tools, err := kube.Find()
	switch {
	case errors.Is(err, kube.ErrMissing) && os.Getenv("CI") == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	d, err := document.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	o := playground.Options{Dir: playground.Dir(dir), Now: clock.Wall, Life: io.Discard, Grace: 5 * time.Minute, Tenon: build(t, dir)}
	o.Surround(d)
	o.Delays = kubelet.Delays{Boot: 300 * time.Millisecond, Ready: 300 * time.Millisecond, Devices: 300 * time.Millisecond}
	o.Timing = market.Usual()
	o.Timing.Boot, o.Timing.ShutDown = 200*time.Millisecond, 200*time.Millisecond

	ctx, stop := context.WithCancel(context.Background())
	ready, done := make(chan playground.Contact, 1), make(chan error, 1)
	go func() { done <- playground.Run(ctx, o, func(c playground.Contact) { ready <- c }) }()
	r := &Reader{t: t, d: d, tools: tools, Vars: map[string]string{"CLUSTER_NAME": o.ClusterName, "AWS_DEFAULT_REGION": o.Region}}
	select {
	case r.contact = <-ready:
	case err := <-done:
		stop()
		t.Fatalf("start the playground: %v", err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error("the playground ended with: ", err)
		}
		if t.Failed() {
			t.Logf("the controller's log:\n%s", tail(r.told.Log.String()))
		}
	})
	if r.told, err = playground.Follow(ctx, d, o, r.contact, t.Output()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.told.Close)
	r.told.Lacks = func(string) bool { return true } // a test's computer need not have what a reader's has
	config, err := clientcmd.BuildConfigFromFlags("", r.contact.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	r.Kube = kubernetes.NewForConfigOrDie(config)
	return r
}

// Follow does a step of the document, as `tenon up --document` does: commands, and what there is to be seen.
func (r *Reader) Follow(step string) {
	r.t.Helper()
	s, err := r.d.Step(step)
	if err == nil {
		err = r.told.Follow(r.t.Context(), s)
	}
	if err != nil {
		r.t.Fatalf("document %s, %s: %v", r.d.ID, step, err)
	}
}

// build makes the controller.
func build(t *testing.T, dir string) string {
	t.Helper()
	program := filepath.Join(dir, "tenon")
	cmd := exec.Command("go", "build", "-ldflags", "-X main.commit="+Commit, "-o", program, "github.com/tenon-sh/tenon/cmd/tenon")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build tenon: %v\n%s", err, out)
	}
	return program
}

func tail(log string) string {
	var kept []string
	for line := range strings.Lines(log) {
		if !strings.Contains(line, "healthz") && !strings.Contains(line, "worker") && !strings.Contains(line, "Starting ") && !strings.Contains(line, "\tevents\t") {
			kept = append(kept, line)
		}
	}
	const most = 300
	return strings.Join(kept[max(0, len(kept)-most):], "")
}

// Run runs kubectl or helm with a standard input, and returns all that it says.
func (r *Reader) Run(input, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.tools)
	cmd.Args = append([]string{program}, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+r.contact.Kubeconfig, "HELM_CACHE_HOME="+r.t.TempDir())
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Kubectl runs kubectl, which must succeed.
func (r *Reader) Kubectl(args ...string) string {
	r.t.Helper()
	out, err := r.Run("", "kubectl", args...)
	if err != nil {
		r.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Apply applies a manifest of the document, as a here-document with its variables filled in.
func (r *Reader) Apply(file string) {
	r.t.Helper()
	if out, err := r.Run(r.Read(file), "kubectl", "apply", "-f", "-"); err != nil {
		r.t.Fatalf("kubectl apply %s: %v\n%s", file, err, out)
	}
}

// ApplyText applies a manifest that is no document's.
func (r *Reader) ApplyText(text string) {
	r.t.Helper()
	if out, err := r.Run(text, "kubectl", "apply", "-f", "-"); err != nil {
		r.t.Fatalf("kubectl apply: %v\n%s\n%s", err, out, text)
	}
}

// Read reads a manifest of the document, its variables filled in.
func (r *Reader) Read(file string) string {
	r.t.Helper()
	data, err := r.d.Manifest(file)
	if err != nil {
		r.t.Fatal(err)
	}
	return os.Expand(string(data), func(name string) string { return r.Vars[name] })
}

// Scale has a deployment run so many pods.
func (r *Reader) Scale(deployment string, to int) {
	r.t.Helper()
	r.Kubectl("scale", "deployment", deployment, fmt.Sprintf("--replicas=%d", to))
}

// call asks the panel of the simulated account.
func (r *Reader) call(method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(context.Background(), method, r.contact.AWS+"/_tenon/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		text, _ := io.ReadAll(res.Body)
		return fmt.Errorf("%s %s: %s", method, path, text)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}

// Endpoint is where the cluster's API server is.
func (r *Reader) Endpoint() string { return r.contact.APIServer }

// A Call is one call that the account has had.
type Call = market.Call

// Cloud has something happen in the simulated account.
func (r *Reader) Cloud(what string, with any) {
	r.t.Helper()
	if err := r.call(http.MethodPost, what, with, nil); err != nil {
		r.t.Fatal(err)
	}
}

// Calls returns the calls of an action that the account has had, such as ec2 CreateFleet.
func (r *Reader) Calls(service, action string) []Call {
	r.t.Helper()
	var out []Call
	if err := r.call(http.MethodGet, "calls?service="+service+"&action="+action, nil, &out); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// A Machine is a machine of the account.
type Machine struct {
	ID, Type, Zone, CapacityType, State, DNS, Image, Template string
	Tags                                                      map[string]string
}

// Machines returns the machines that Tenon has and the account still runs; those of node groups are not Tenon's.
func (r *Reader) Machines() []Machine {
	r.t.Helper()
	var all, out []Machine
	if err := r.call(http.MethodGet, "instances", nil, &all); err != nil {
		r.t.Fatal(err)
	}
	for _, m := range all {
		if (m.State == "pending" || m.State == "running") && m.Tags["eks:nodegroup-name"] == "" {
			out = append(out, m)
		}
	}
	return out
}

// Within waits until check has nothing to say against it.
func (r *Reader) Within(limit time.Duration, check func() error) {
	r.t.Helper()
	kubetest.Within(r.t, limit, check)
}
