package snapshot_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/snapshot"
	"github.com/tenon-sh/tenon/internal/observe"
)

// read makes the World of documents.
func read(t *testing.T, documents ...string) *world.World {
	t.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	var source snapshot.Source
	source.Flags(flags)
	if err := flags.Parse([]string{"-f", "-"}); err != nil {
		t.Fatal(err)
	}
	in, err := source.Read(t.Context(), strings.NewReader(strings.Join(documents, "\n---\n")), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := in.World(1000)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

const (
	agents = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent","namespace":"agents"},"spec":{"template":{"spec":{"containers":[{"name":"a"}]}}}}`
	limits = `{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"cpu","namespace":"agents"},"spec":{"limits":[{"type":"Container","default":{"cpu":"2"}}]}}`
	agent  = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"agent-x","namespace":"agents","uid":"1","ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"agent","uid":"2","controller":true}]},"spec":{"nodeName":"n","containers":[{"name":"a","resources":{"requests":{"cpu":"3"}}}]}}`
	plain  = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"agents"},"spec":{"containers":[{"name":"a"}]}}`
	run    = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"agents"},"spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"a"}]}}}}`
)

// What pods ask for is what admission makes of them, as the controller sees it:
// a node that is planned by what manifests say would be too small.
func TestPodsAreAsLargeAsAdmissionMakesThem(t *testing.T) {
	tests := map[string]struct {
		why       string
		documents []string
		daemon    string // what each of them asks for, in CPUs
		pod       string
	}{
		"Template":   {"Nothing adds to it.", []string{agents}, "0", ""},
		"LimitRange": {"Its limit is the request of what has neither.", []string{agents, limits}, "2", ""},
		"RealPod":    {"Whatever made it larger, the next one will be as large.", []string{agents, limits, agent}, "3", ""},
		"Manifest":   {"It has not been admitted yet.", []string{agents, limits, plain}, "2", "2"},
		"Workload":   {"Its pods have not been admitted yet.", []string{agents, limits, run}, "2", "2"},
		"Admitted":   {"It was admitted before there was a LimitRange.", []string{agents, limits, strings.Replace(plain, `"name":"p"`, `"name":"p","uid":"9"`, 1)}, "2", "0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := read(t, tc.documents...)
			cpu := func(l amount.List) string { return amount.Text(amount.CPU, l.Value(amount.CPU)) }
			if got := cpu(w.DaemonSets()[0].Pod.Requests); got != tc.daemon {
				t.Errorf("the daemon asks for %s CPUs, want %s: %s", got, tc.daemon, tc.why)
			}
			for _, p := range w.Waiting() {
				if got := cpu(p.Requests); got != tc.pod {
					t.Errorf("the pod asks for %s CPUs, want %s: %s", got, tc.pod, tc.why)
				}
			}
			if (len(w.Waiting()) > 0) != (tc.pod != "") {
				t.Errorf("%d pods wait", len(w.Waiting()))
			}
		})
	}
}

// The back-off that the controller wrote to a pool's status holds for plans as well.
func TestBackOffOfAPoolHolds(t *testing.T) {
	want := world.Backoff{Times: 3, Last: 990, Why: "its machine did not join as a node"}
	condition, err := json.Marshal(metav1.Condition{Type: observe.ConditionBackOff, Status: metav1.ConditionTrue, Reason: observe.ReasonBackOff, Message: observe.BackoffText(&want)})
	if err != nil {
		t.Fatal(err)
	}
	w := read(t, strings.TrimSuffix(strings.TrimSpace(pool), "}")+`,"status":{"conditions":[`+string(condition)+`]}}`)
	p := w.Pools()[0]
	want.Pool, want.Template = p.ID, p.Template
	if diff := cmp.Diff(&want, w.PoolBackoff(p)); diff != "" {
		t.Error(diff)
	}
}
