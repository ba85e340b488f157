package pool

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
)

// counter finds pools of which the status does not show what their nodes have together.
type counter struct {
	mu   sync.Mutex
	says map[world.PoolID]string
}

// tally is all of a pool that its status shows, in one text.
func tally(w *world.World, id world.PoolID, used amount.List) string {
	if p := w.Pool(id); p != nil {
		return fmt.Sprint(used, p.NotReady, Unsold(w, p), waits(w, p))
	}
	return fmt.Sprint(used)
}

// shows notes what a status shows now.
func (c *counter) shows(id world.PoolID, tally string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.says == nil {
		c.says = map[world.PoolID]string{}
	}
	c.says[id] = tally
}

// news reports whether a status would show something else.
func (c *counter) news(id world.PoolID, tally string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	says, ok := c.says[id]
	return !ok || says != tally
}

// count enqueues the pools of a kind whose status is out of date. One that breaks
// what compares them keeps the status that it has.
func (c *counter) count(state *cluster.Cluster, kind string, add func(reconcile.Request)) {
	w := state.World() // an older one may not hold what has changed, and nothing may change after it
	used := Usage(w)
	for _, p := range w.Pools() {
		state.Panics.Do("pool count", func() {
			if p.ID.Kind == kind && c.news(p.ID, tally(w, p.ID, used[p.ID])) {
				add(reconcile.Request{NamespacedName: client.ObjectKey{Name: p.ID.Name}})
			}
		}, "pool", p.ID.Name)
	}
}

// changes enqueues pools of a kind whose status is out of date, soon after the cluster state changed.
func (c *counter) changes(state *cluster.Cluster, kind string) source.Source {
	changed := make(chan struct{}, 1)
	state.Listen(func(change cluster.Change) {
		if change.Kind != cluster.Node && change.Kind != cluster.Claim && change.Kind != cluster.Pool && change.Kind != cluster.Catalog && change.Kind != cluster.Backoff {
			return
		}
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		go func() {
			if !state.Await(ctx) {
				return
			}
			for {
				state.Panics.Do("pool count", func() { c.count(state, kind, queue.Add) })
				pause := time.NewTimer(count)
				select {
				case <-ctx.Done():
				case <-pause.C:
				}
				pause.Stop()
				select {
				case <-ctx.Done():
					return
				case <-changed:
				}
			}
		}()
		return nil
	})
}
