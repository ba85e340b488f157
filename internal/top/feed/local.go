package feed

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Local asks a handler of this process.
func Local(h http.Handler) Get {
	return func(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
		ctx, end := context.WithCancel(ctx)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://local/"+path+"?"+query.Encode(), nil)
		if err != nil {
			end()
			return nil, err
		}
		read, write := io.Pipe()
		w := &writer{header: http.Header{}, to: write, began: make(chan int, 1)}
		go func() {
			h.ServeHTTP(w, r)
			w.WriteHeader(http.StatusOK)
			_ = write.Close() // a pipe's writer ends without error
		}()
		if status := <-w.began; status != http.StatusOK {
			text, err := io.ReadAll(read)
			end()
			return nil, errors.Join(err, errors.New(strings.TrimSpace(string(text))))
		}
		return &body{read, end}, nil
	}
}

// writer passes on what a handler answers as it comes.
type writer struct {
	header http.Header
	to     *io.PipeWriter
	began  chan int // receives the status, once
	sent   bool
}

// Header is http.ResponseWriter's.
func (w *writer) Header() http.Header { return w.header }

// WriteHeader is http.ResponseWriter's.
func (w *writer) WriteHeader(status int) {
	if !w.sent {
		w.sent = true
		w.began <- status
	}
}

// Write is http.ResponseWriter's.
func (w *writer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.to.Write(b)
}

// Flush is http.Flusher's: nothing is kept back.
func (w *writer) Flush() {}

// body ends the handler when it is closed.
type body struct {
	*io.PipeReader

	end context.CancelFunc
}

// Close is io.Closer's.
func (b *body) Close() error {
	b.end()
	return b.PipeReader.Close()
}
