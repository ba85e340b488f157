package awsapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// RoundTrip answers a request without a network, so that a client can be run in virtual time:
// give the SDK an http.Client whose Transport is the server.
func (s *Server) RoundTrip(r *http.Request) (out *http.Response, err error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	in := r.Clone(r.Context())
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	w := &page{header: http.Header{}, status: http.StatusOK}
	defer func() {
		_ = r.Body.Close()
		switch cut := recover(); cut {
		case nil:
		case http.ErrAbortHandler:
			out, err = nil, errCut
		default:
			panic(cut)
		}
	}()
	s.ServeHTTP(w, in)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// errCut is what a client sees of a connection that was cut.
var errCut = errors.New("connection reset by the simulated AWS")

// page is an http.ResponseWriter into memory.
type page struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (p *page) Header() http.Header { return p.header }

// WriteHeader implements http.ResponseWriter.
func (p *page) WriteHeader(status int) { p.status = status }

// Write implements http.ResponseWriter.
func (p *page) Write(b []byte) (int, error) { return p.body.Write(b) }
