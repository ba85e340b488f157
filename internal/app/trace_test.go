package app_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/trace"
)

// A pod that came to run on a node that was bought for it is told to a collector, from its making on, and the
// histograms name its trace.
func TestTraces(t *testing.T) {
	var mu sync.Mutex
	var sent string
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if err == nil && r.URL.Path == "/v1/traces" {
			sent += string(body)
		}
	}))
	defer collector.Close()
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // what listens on tcp has such an address
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	m := region(t)
	play(t, m)
	h := fixture{client: kubetest.Client(t, v1.AddToScheme), market: m, driver: driver.New(m, "test"), settings: func(s *app.Settings) {
		s.Trace, s.MetricsPort, s.BindAddress = trace.Settings{URL: collector.URL + "/v1/traces"}, port, "127.0.0.1"
	}}.start(t)
	ns := kubetest.Namespace(t)
	p, web := pool("traced"), deployment(ns, "web", 1, "1500m")
	h.make(t, p, web)
	h.runs(t, ns, 1)
	kubetest.Within(t, time.Minute, func() error {
		mu.Lock()
		defer mu.Unlock()
		for _, name := range []string{"pod", "observe", "decide", "bind", "start"} {
			if !strings.Contains(sent, `"name":"`+name+`"`) {
				return fmt.Errorf("no span %q is sent yet: %s", name, sent)
			}
		}
		if !strings.Contains(sent, `"stringValue":"traced"`) || !strings.Contains(sent, ns) {
			return fmt.Errorf("the spans do not name pool and namespace: %s", sent)
		}
		return nil
	})
	if !slices.ContainsFunc([]string{"launch", "register", "initialize"}, func(name string) bool { return strings.Contains(sent, `"name":"`+name+`"`) }) {
		t.Errorf("nothing is told of its machine: %s", sent)
	}
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/metrics", port), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/openmetrics-text") || strings.Count(text, "# EOF") != 1 || !strings.HasSuffix(text, "# EOF\n") ||
		!strings.Contains(text, "karpenter_pods_state{") || !strings.Contains(text, `# {trace_id="`) {
		t.Errorf("scraped as OpenMetrics it is %s … %s", answer.Header.Get("Content-Type"), text[max(0, len(text)-500):])
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "# {trace_id=") && !strings.Contains(line, "karpenter_pods_") {
			t.Errorf("of no pod is %s", line)
		}
	}
	h.clear(t, web, p)
}
