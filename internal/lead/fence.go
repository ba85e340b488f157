// Package lead lets one controller at a time act on a cluster.
//
// Three things do that together. A Lease of the installation says which of its
// replicas acts; it is short, so that another takes over soon after a crash. A
// Lease in kube-system that every installation knows says which installation
// acts. And a Fence stands before every write to the API server and every call
// to the cloud: it is open only while both Leases are certain to be held, so
// that a process that was paused, and wakes when another acts, writes nothing.
package lead

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/clock"
)

// ErrNotLeading is why something is not sent.
var ErrNotLeading = errors.New("this replica does not lead")

// lateRenewalTimeout is how long a write waits for a renewal that is late. A leader that
// cannot renew for longer than that has more to worry about than one write.
const lateRenewalTimeout = 10 * time.Second

// Fence is open while this process may act. Its methods may be called from several goroutines.
type Fence struct {
	now clock.Now

	mu      sync.Mutex
	terms   [2]term       // of the installation's Lease, and of the cluster's
	opened  bool          // it has been open
	lost    error         // why it is shut for good
	changed chan struct{} // closed at the next change
}

// The Leases of a fence.
const (
	installation = iota
	wholeCluster
)

// term is a time for which a Lease is certain to be held.
type term struct {
	asked time.Time // before the request that was granted
	good  time.Duration
}

// over reports whether a term may have ended. Two clocks are asked: the steady
// one stands still while a computer sleeps, and the wall clock can be set. The
// one that says that more time has passed is believed.
func (t term) over(now time.Time) bool {
	steady, wall := now.Sub(t.asked), now.Round(0).Sub(t.asked.Round(0))
	return max(steady, wall) >= t.good
}

// NewFence returns a fence that is shut.
func NewFence(now clock.Now) *Fence {
	return &Fence{now: now, changed: make(chan struct{})}
}

// extend says that a Lease was asked for and is held for a while from then on.
func (f *Fence) extend(lease int, asked time.Time, good time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.terms[lease] = term{asked, good}
	if f.lost == nil && f.open() {
		f.opened = true
	}
	f.notify()
}

// Shut ends the right to act for good.
func (f *Fence) shut(why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost == nil {
		f.lost = why
	}
	f.notify()
}

func (f *Fence) notify() {
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *Fence) open() bool {
	now := f.now()
	return !f.terms[installation].over(now) && !f.terms[wholeCluster].over(now)
}

// led reports whether the fence has been open, and why it is shut for good if it is.
func (f *Fence) led() (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opened, f.lost
}

// Wait returns nil when this process may act. While a renewal is late it waits
// for that; a process that does not lead, or leads no more, gets an error.
func (f *Fence) Wait(ctx context.Context) error {
	var timeout <-chan time.Time
	for {
		f.mu.Lock()
		lost, opened, open, changed := f.lost, f.opened, f.open(), f.changed
		f.mu.Unlock()
		switch {
		case lost != nil:
			return lost
		case open:
			return nil
		case !opened:
			return ErrNotLeading
		case timeout == nil:
			t := time.NewTimer(lateRenewalTimeout)
			defer t.Stop()
			timeout = t.C
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timeout:
			return fmt.Errorf("%w: its Lease has not been renewed for %s", ErrNotLeading, lateRenewalTimeout)
		case <-changed:
		}
	}
}

// Transport lets reads pass, and writes while the fence is open.
func (f *Fence) Transport(next http.RoundTripper) http.RoundTripper { return writes{next, f} }

type writes struct {
	http.RoundTripper

	fence *Fence
}

// RoundTrip is http.RoundTripper's.
func (w writes) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		if err := w.fence.Wait(r.Context()); err != nil {
			if r.Body != nil {
				_ = r.Body.Close() // as a RoundTripper has to
			}
			return nil, fmt.Errorf("not sent: %w", err)
		}
	}
	return w.RoundTripper.RoundTrip(r)
}

// Dial returns a dialer of connections that carry nothing more once this process
// has led and its right to act may have ended. Transport asks when a request is
// made; a process may be paused after that, with the request encoded and not yet
// written. What is between this check and the system call is all that is left.
func (f *Fence) Dial(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return fenced{c, f}, nil
	}
}

type fenced struct {
	net.Conn

	fence *Fence
}

// Write is net.Conn's.
func (c fenced) Write(b []byte) (int, error) {
	if opened, lost := c.fence.led(); opened || lost != nil {
		if err := c.fence.Wait(context.Background()); err != nil {
			return 0, errors.Join(err, c.Close())
		}
	}
	return c.Conn.Write(b)
}
