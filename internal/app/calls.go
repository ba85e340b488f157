package app

import (
	"net/http"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/metric"
)

// counted has what is sent to the API server and by the driver counted.
func (c Config) counted(m *metric.Set) Config {
	c.Kubernetes = rest.CopyConfig(c.Kubernetes)
	c.Kubernetes.Wrap(func(next http.RoundTripper) http.RoundTripper { return calls{next, m, c.Now} })
	if d, ok := c.Driver.(observed); ok {
		d.Observe(func(d access.Done) { sdk(m, d) })
	}
	return c
}

// sdk counts a request to AWS, or an attempt of one.
func sdk(m *metric.Set, d access.Done) {
	labels := []string{d.Service, d.Action, strconv.Itoa(d.Code)}
	if d.Attempts == 0 {
		m.Add(metric.SDKAttempts, 1, labels...)
		m.Observe(metric.SDKAttemptTime, d.Took.Seconds(), labels...)
		return
	}
	m.Add(metric.SDKRequests, 1, labels...)
	m.Observe(metric.SDKRequestTime, d.Took.Seconds(), labels...)
	m.Observe(metric.SDKRetries, float64(d.Attempts-1), labels...)
}

// calls counts what is sent to the API server.
type calls struct {
	next    http.RoundTripper
	metrics *metric.Set
	now     clock.Now
}

// RoundTrip is http.RoundTripper's.
func (c calls) RoundTrip(r *http.Request) (*http.Response, error) {
	begun := c.now()
	answer, err := c.next.RoundTrip(r)
	code := "<error>" // as client-go calls it
	if answer != nil {
		code = strconv.Itoa(answer.StatusCode)
	}
	c.metrics.Add(metric.KubeRequests, 1, code, r.Method)
	if about, ok := aboutOf(r); ok {
		c.metrics.Observe(metric.KubeRequestTime, c.now().Sub(begun).Seconds(), about.verb, about.group, about.version, about.kind, about.subresource)
	}
	return answer, err
}

// about is what a request to the API server is about.
type about struct{ verb, group, version, kind, subresource string }

// aboutOf reads it from the address. Watches, which last, are not measured, nor is what is about no kind.
func aboutOf(r *http.Request) (about, bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var a about
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		a.version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		a.group, a.version, parts = parts[1], parts[2], parts[3:]
	default:
		return a, false
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		parts = parts[2:]
	}
	a.kind = parts[0]
	if len(parts) > 2 {
		a.subresource = parts[2]
	}
	switch watched := r.URL.Query().Get("watch"); {
	case watched == "true" || watched == "1":
		return a, false
	case r.Method == http.MethodPost:
		a.verb = "CREATE"
	case r.Method == http.MethodPut:
		a.verb = "UPDATE"
	case r.Method == http.MethodGet && len(parts) == 1:
		a.verb = "LIST"
	default:
		a.verb = r.Method
	}
	return a, true
}
