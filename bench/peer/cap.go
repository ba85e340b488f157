package peer

import (
	"context"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/bench/measure"
)

// deadline is a context that ends when the process has spent so much CPU time.
// The library ends a pass after a minute on the clock; on a busy machine that
// would be less work than on an idle one.
type deadline struct {
	context.Context
	over    chan struct{}
	stop    chan struct{}
	watcher sync.WaitGroup
}

func capCPU(ctx context.Context, limit time.Duration) *deadline {
	d := &deadline{Context: ctx, over: make(chan struct{}), stop: make(chan struct{})}
	end := measure.CPU() + limit
	d.watcher.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for measure.CPU() < end {
			select {
			case <-tick.C:
			case <-d.stop:
				return
			}
		}
		close(d.over)
	})
	return d
}

// end frees the watcher.
func (d *deadline) end() {
	close(d.stop)
	d.watcher.Wait()
}

// Done is closed when the time is spent.
func (d *deadline) Done() <-chan struct{} { return d.over }

// Err says so, in the words the library listens for.
func (d *deadline) Err() error {
	select {
	case <-d.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
