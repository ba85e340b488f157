package crash

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// moment is a write at which the controller dies.
type moment struct {
	write int    // counted from 1; 0: the first that what begins
	what  string // how the write begins
	after bool   // the write is done, but its answer is lost
}

func (m moment) String() string {
	name := m.what
	if m.write > 0 {
		name = fmt.Sprintf("write %d", m.write)
	}
	if m.after {
		return "after " + name
	}
	return "before " + name
}

// gate stands between the controller and everything it writes to. It counts
// the writes, and when the moment has come it pulls the plug.
type gate struct {
	kill func()

	mu     sync.Mutex
	writes []string
	at     moment
	struck bool // the moment has been
	dead   bool // writes of a process that is being killed go nowhere
}

// through reports whether a write may pass, and whether its answer may.
func (g *gate) through(what string) (pass, answer bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dead {
		return false, false
	}
	g.writes = append(g.writes, what)
	if g.struck || g.at.write != len(g.writes) && (g.at.what == "" || !strings.HasPrefix(what, g.at.what)) {
		return true, true
	}
	g.dead, g.struck = true, true
	return g.at.after, false
}

// die ends the controller. Requests that are under way stay without an answer.
func (g *gate) die(w http.ResponseWriter) {
	g.kill()
	panic(http.ErrAbortHandler)
}

// arm sets the moment for what comes, and counts from nothing.
func (g *gate) arm(at moment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.at, g.writes, g.dead, g.struck = at, nil, false, false
}

// revive lets a new process write; the moment has passed.
func (g *gate) revive() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dead = false
}

// hit reports whether the moment has been.
func (g *gate) hit() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.struck
}

func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.writes)
}

// serve puts the gate before a server. isWrite names a request that is a write; empty for others.
func (g *gate) serve(t *testing.T, to string, via http.RoundTripper, isWrite func(*http.Request, []byte) string) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport: via, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // signatures name the host
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body []byte
		if r.Method != http.MethodGet {
			body, _ = io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		what := isWrite(r, body)
		if what == "" {
			proxy.ServeHTTP(w, r)
			return
		}
		pass, answer := g.through(what)
		switch {
		case answer:
			proxy.ServeHTTP(w, r)
		case pass:
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			g.die(w)
		default:
			g.die(w)
		}
	}))
	t.Cleanup(func() {
		s.Listener.Close() // so that none of those that are cut comes back
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// kubeWrite names a write to Kubernetes. Events and leases do not count: nothing is lost with them.
func kubeWrite(r *http.Request, _ []byte) string {
	if r.Method == http.MethodGet || strings.Contains(r.URL.Path, "/events") || strings.Contains(r.URL.Path, "/leases") || strings.Contains(r.URL.Path, "/selfsubject") {
		return ""
	}
	return r.Method + " " + r.URL.Path
}

// awsWrite names a call to AWS that changes something.
func awsWrite(r *http.Request, body []byte) string {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return ""
	}
	switch action := form.Get("Action"); {
	case strings.HasPrefix(action, "Create"), strings.HasPrefix(action, "Terminate"), strings.HasPrefix(action, "Delete"), strings.HasPrefix(action, "Add"):
		return action
	}
	return ""
}
