package apitest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
)

// Process is a controller that runs, with a cluster state that is shown what a store holds.
type Process struct {
	t     *testing.T
	store client.Reader
	state *cluster.Cluster
	stop  context.CancelFunc
	done  chan error
}

// Begin starts a controller as a process does: its cluster state has been shown all that there is before the controller
// runs, which would decide about a pool without its claims otherwise. It is for tests in a bubble of testing/synctest.
func Begin(t *testing.T, store client.Reader, state *cluster.Cluster, c interface {
	Listen()
	Start(ctx context.Context) error
},
) *Process {
	t.Helper()
	c.Listen()
	Show(t, store, state)
	ctx, stop := context.WithCancel(t.Context())
	p := &Process{t: t, store: store, state: state, stop: stop, done: make(chan error, 1)}
	go func() { p.done <- c.Start(ctx) }()
	synctest.Wait() // for its first look
	return p
}

// Show has the watches deliver what has changed.
func (p *Process) Show() {
	p.t.Helper()
	Show(p.t, p.store, p.state)
}

// Live lets time pass, in which the watches deliver at every tick.
func (p *Process) Live(long, tick time.Duration) {
	p.t.Helper()
	for end := clock.Wall().Add(long); clock.Wall().Before(end); time.Sleep(tick) {
		p.Show()
	}
}

// End stops the controller and waits for it. An error of it fails the test.
func (p *Process) End() {
	p.t.Helper()
	p.stop()
	if err := <-p.done; err != nil {
		p.t.Error(err)
	}
}
