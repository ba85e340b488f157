package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// A progress shows how far the build is: in place on a terminal, as a line now and then elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	start    time.Time
	stop     chan struct{}
	stopped  sync.WaitGroup

	mu    sync.Mutex
	doing string
	of    string
	done  int
	total int
}

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	p := &progress{
		out:      out,
		terminal: err == nil && info.Mode()&os.ModeCharDevice != 0,
		start:    time.Now(),
		stop:     make(chan struct{}),
	}
	p.stopped.Go(p.show)
	return p
}

func (p *progress) show() {
	every := 15 * time.Second
	if p.terminal {
		every = 500 * time.Millisecond
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			p.print()
			if p.terminal {
				fmt.Fprintln(p.out)
			}
			return
		case <-tick.C:
			p.print()
		}
	}
}

func (p *progress) print() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doing == "" {
		return
	}
	text := fmt.Sprintf("  %s: %d %s", p.doing, p.done, p.of)
	if p.total > 0 {
		text = fmt.Sprintf("  %s: %d of at most %d %s", p.doing, p.done, p.total, p.of)
	}
	text += fmt.Sprintf(", %s", time.Since(p.start).Round(time.Second))
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s", text)
	} else {
		fmt.Fprintln(p.out, text)
	}
}

func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, format+"\n", args...)
}

// phase starts counting again.
func (p *progress) phase(doing, of string, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.of, p.done, p.total = doing, of, 0, total
}

func (p *progress) step(string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
}

func (p *progress) close() {
	close(p.stop)
	p.stopped.Wait()
}

// lines calls each for every line written to it and keeps the last ones.
type lines struct {
	each func(string)
	part []byte
	last []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.part = append(l.part, b...)
	for {
		i := bytes.IndexByte(l.part, '\n')
		if i < 0 {
			return len(b), nil
		}
		line := string(l.part[:i])
		l.part = l.part[i+1:]
		l.last = append(l.last, line)
		if len(l.last) > 30 {
			l.last = l.last[1:]
		}
		l.each(line)
	}
}

// tail is the last lines, in full.
func (l *lines) tail() string {
	return strings.Join(append(l.last, string(l.part)), "\n")
}
