package app

import (
	"net/http"
	"strings"

	"github.com/go-logr/logr"

	"github.com/tenon-sh/tenon/api/quantity"
)

// mended carries requests, and reads quantities of our kinds that cannot be read as zero.
//
// The CRDs refuse them, but an API server keeps what older CRDs let pass. One such object would end the reading of
// every object of its kind, or keep it busy for ever, and with it the controller.
type mended struct {
	http.RoundTripper

	log logr.Logger
}

// RoundTrip has the answer mended if it may hold objects of ours.
func (m mended) RoundTrip(q *http.Request) (*http.Response, error) {
	r, err := m.RoundTripper.RoundTrip(q)
	if err != nil || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") || !strings.Contains(q.URL.Path, "/apis/karpenter.") {
		return r, err
	}
	r.Body = quantity.NewReader(r.Body, func(u quantity.Unreadable) {
		m.log.Error(nil, "a quantity "+u.Reason()+"; until it is changed it counts as 0", "in", q.URL.Path, "name", u.Name, "field", u.Path, "value", u.Value)
	})
	r.ContentLength = -1 // it may become shorter
	r.Header.Del("Content-Length")
	return r, nil
}
