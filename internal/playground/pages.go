package playground

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// A tenon is the controller of a playground, however it is run.
type tenon interface {
	kill(context.Context) (string, error)  // as a crash would; it says what was killed
	pages(context.Context) (string, error) // host and port of its pages and metrics
}

// servePages has the controller's pages at one address, whichever replica leads and on whichever port.
func servePages(t tenon) (address string, close func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, err := t.pages(r.Context())
		if err != nil {
			w.Header().Set("Retry-After", "5")
			http.Error(w, err.Error()+"; try again in some seconds", http.StatusServiceUnavailable)
			return
		}
		httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: at}).ServeHTTP(w, r)
	})}
	done := make(chan struct{})
	go func() {
		defer func() { done <- struct{}{} }()
		_ = s.Serve(l)
	}()
	return "http://" + l.Addr().String() + "/", func() { _ = s.Close(); <-done }, nil
}
