package main

import (
	"bytes"
	"io"
	"regexp"
	"sync"
)

// last matches the line that ends what go test says of a package, or a line of -json, which says of which it is.
var last = regexp.MustCompile(`^(ok  \t|FAIL\t|\?   \t|\{)`)

// whole passes on what one of several go tests says, a package at a time, so that what is said of one is not cut by what is said of another.
type whole struct {
	to   io.Writer
	mu   *sync.Mutex // over to
	held []byte
	seen int // so much of it ends no package
}

func (w *whole) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	ready := 0
	for {
		n := bytes.IndexByte(w.held[w.seen:], '\n') + 1
		if n == 0 {
			break
		}
		if last.Match(w.held[w.seen : w.seen+n]) {
			ready = w.seen + n
		}
		w.seen += n
	}
	if err := w.pass(ready); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end passes on what ended no package.
func (w *whole) end() { _ = w.pass(len(w.held)) }

func (w *whole) pass(n int) error {
	if n == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.to.Write(w.held[:n])
	w.held = append([]byte(nil), w.held[n:]...)
	w.seen = max(0, w.seen-n)
	return err
}
