package host

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

// serve answers the API server on the loopback interface as a kubelet does, for logs alone.
func (h *Host) serve() (port int, close func(), err error) {
	certificate, err := h.certificate()
	if err != nil {
		return 0, nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", h.logs)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the node of the playground offers logs; it has no exec, no attach and no port-forward", http.StatusNotImplemented)
	})
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}}
	done := make(chan struct{})
	go func() {
		defer func() { done <- struct{}{} }()
		_ = s.ServeTLS(l, "", "")
	}()
	return l.Addr().(*net.TCPAddr).Port, func() { _ = s.Close(); <-done }, nil
}

// certificate is one that need not be trusted: the API server does not check those of kubelets.
func (h *Host) certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := h.o.Now()
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
		DNSNames: []string{h.o.Node.Name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// logs writes the log of a container's present run, or of the one before.
func (h *Host) logs(w http.ResponseWriter, r *http.Request) {
	p, q := h.find(r.PathValue("namespace"), r.PathValue("pod")), r.URL.Query()
	if p == nil {
		http.Error(w, "no such pod runs here", http.StatusNotFound)
		return
	}
	since, err := sinceOf(q, h.o.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	run := p.status.Restarts
	if p.status.ID == "" && run > 0 || q.Get("previous") == "true" {
		run--
	}
	p.mu.Unlock()
	f, err := os.Open(p.log(run))
	if err != nil {
		http.Error(w, "there is no such log", http.StatusNotFound)
		return
	}
	defer f.Close()
	lines, err := strconv.Atoi(q.Get("tailLines"))
	if err != nil {
		lines = -1
	}
	if err := skip(f, lines); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	limit, err := strconv.ParseInt(q.Get("limitBytes"), 10, 64)
	if err != nil {
		limit = -1
	}
	out := &shown{out: flushed{w, http.NewResponseController(w)}, since: since, stamps: q.Get("timestamps") == "true", left: limit}
	for {
		if _, err := io.Copy(out, f); err != nil || q.Get("follow") != "true" || !h.more(r.Context(), p, run) {
			return
		}
	}
}

// sinceOf is the time from which on lines are asked for; zero: from the first.
func sinceOf(q url.Values, now time.Time) (time.Time, error) {
	if text := q.Get("sinceTime"); text != "" {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return t, fmt.Errorf("sinceTime=%s: it is a time such as %s", text, now.UTC().Format(time.RFC3339))
		}
		return t, nil
	}
	if text := q.Get("sinceSeconds"); text != "" {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 1 {
			return time.Time{}, fmt.Errorf("sinceSeconds=%s: it is a number of seconds above 0", text)
		}
		return now.Add(-time.Duration(n) * time.Second), nil
	}
	return time.Time{}, nil
}

// more waits a little for further lines; false when there will be none.
func (h *Host) more(ctx context.Context, p *pod, run int32) bool {
	p.mu.Lock()
	over := p.status.Restarts != run
	p.mu.Unlock()
	if over || h.find(p.Namespace, p.Name) != p {
		return false
	}
	return sleep(ctx, 200*time.Millisecond)
}

// flushed sends at once what is written.
type flushed struct {
	io.Writer
	c *http.ResponseController
}

func (f flushed) Write(b []byte) (int, error) {
	n, err := f.Writer.Write(b)
	return n, errors.Join(err, f.c.Flush())
}

// skip moves to the last lines of a log; below zero: all of them.
func skip(f *os.File, lines int) error {
	if lines < 0 {
		return nil
	}
	const block = 64 << 10
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if lines == 0 {
		return nil
	}
	buffer := make([]byte, block)
	for at := end; at > 0; {
		from := max(0, at-block)
		b := buffer[:at-from]
		if _, err := f.ReadAt(b, from); err != nil {
			return err
		}
		for i := bytes.LastIndexByte(b, '\n'); i >= 0; i = bytes.LastIndexByte(b[:i], '\n') {
			if from+int64(i) == end-1 {
				continue // it ends the last line
			}
			if lines--; lines == 0 {
				_, err := f.Seek(from+int64(i)+1, io.SeekStart)
				return err
			}
		}
		at = from
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}
