package app

import (
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// A replica holds the Lease by its pod's name, also where the pod has no hostname of its own.
func TestAReplicaIsNamedByItsPod(t *testing.T) {
	t.Setenv("HOSTNAME", "karpenter-7d9f-abcde")
	if name, err := replica(); name != "karpenter-7d9f-abcde" || err != nil {
		t.Errorf("it is called %q: %v", name, err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("HOSTNAME", "")
	if name, err := replica(); name != host || err != nil {
		t.Errorf("without a word of the container it is called %q: %v, want %q", name, err, host)
	}
}

// failing is an API server that breaks down over its first calls.
type failing struct {
	code, times int
	bodies      []string
}

func (f *failing) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	f.bodies = append(f.bodies, string(text))
	code := http.StatusOK
	if len(f.bodies) <= f.times {
		code = f.code
	}
	return &http.Response{StatusCode: code, Body: http.NoBody}, err
}

// What is asked of Leases is asked twice if the API server breaks down over it, and not if it says no.
func TestLeasesAreAskedForTwice(t *testing.T) {
	for name, tc := range map[string]struct {
		why               string
		code, times, want int // the last: what comes of it
		calls             int
	}{
		"Fine":      {"It is answered.", 500, 0, 200, 1},
		"Once":      {"The second call passes.", 500, 1, 200, 2},
		"Away":      {"So it does where none answers.", 503, 1, 200, 2},
		"Twice":     {"Two are enough.", 500, 2, 500, 2},
		"Conflict":  {"Another has the Lease.", 409, 1, 409, 1},
		"Forbidden": {"It may not be written.", 403, 1, 403, 1},
		"Throttled": {"The API server wants fewer calls.", 429, 1, 429, 1},
	} {
		t.Run(name, func(t *testing.T) {
			server := &failing{code: tc.code, times: tc.times}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://kubernetes/lease", strings.NewReader("holder"))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := repeated{server}.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := answer.Body.Close(); err != nil {
				t.Error(err)
			}
			if answer.StatusCode != tc.want || len(server.bodies) != tc.calls || slices.ContainsFunc(server.bodies, func(b string) bool { return b != "holder" }) {
				t.Errorf("%d after %q, want %d after %d: %s", answer.StatusCode, server.bodies, tc.want, tc.calls, tc.why)
			}
		})
	}
}

// remembering is a driver that keeps something for templates, and of reservations.
type remembering struct {
	cloud.Driver

	dropped []world.TemplateID
	freed   int
}

func (d *remembering) Drop(id world.TemplateID) { d.dropped = append(d.dropped, id) }
func (d *remembering) Freed()                   { d.freed++ }

// What not every driver can is asked of it behind the fence as well, without which nothing runs.
func TestTheFenceHidesNothing(t *testing.T) {
	d := &remembering{}
	c := cloud.New(cloud.Config{Driver: fencedDriver{Driver: d}})
	c.Drop("template")
	c.Freed()
	if len(d.dropped) != 1 || d.freed != 1 {
		t.Errorf("templates dropped: %q; told of machines of reservations that ended: %d times", d.dropped, d.freed)
	}
}
