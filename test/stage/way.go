package stage

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/tenon-sh/tenon/internal/kubetest"
)

// Way is a road to the API server that a test can disturb.
type Way struct {
	URL string

	server *httptest.Server
	mu     sync.Mutex
	refuse func(*http.Request) int // a status to answer with; 0: let it pass; below 0: cut the connection
}

// NewWay opens a road to the API server of the package's tests.
func NewWay(t testing.TB) *Way {
	t.Helper()
	config := kubetest.Config(t)
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	via, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport: via, FlushInterval: -1,
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	w := &Way{}
	w.server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		switch status := w.judge(r); {
		case status == 0:
			proxy.ServeHTTP(out, r)
		case status < 0:
			panic(http.ErrAbortHandler)
		default:
			if status == http.StatusTooManyRequests {
				out.Header().Set("Retry-After", "1")
			}
			out.Header().Set("Content-Type", "application/json")
			out.WriteHeader(status)
			_, _ = out.Write(reply(status))
		}
	}))
	w.URL = w.server.URL
	t.Cleanup(func() { w.server.CloseClientConnections(); w.server.Close() })
	return w
}

// reply is what the API server says when it refuses.
func reply(status int) []byte {
	reason := map[int]metav1.StatusReason{http.StatusConflict: metav1.StatusReasonConflict, http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests}[status]
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Message: "the way is disturbed", Reason: reason, Code: int32(status), //nolint:gosec // a status has three digits
	})
	if err != nil {
		return nil
	}
	return body
}

func (w *Way) judge(r *http.Request) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse == nil {
		return 0
	}
	return w.refuse(r)
}

// Disturb has every request judged by f from now on: a status to answer with,
// 0 to let it pass, below 0 to cut the connection; nil: all pass.
func (w *Way) Disturb(f func(*http.Request) int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse = f
}

// Cut ends all connections that there are.
func (w *Way) Cut() { w.server.CloseClientConnections() }

// Config leads through the way.
func (w *Way) Config() *rest.Config { return &rest.Config{Host: w.URL} }
