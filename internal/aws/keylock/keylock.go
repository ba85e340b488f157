// Package keylock has locks by key, whose callers may give up waiting.
//
// k8s.io/utils/keymutex has neither of both: its keys share a fixed number of
// locks, and a wait for one cannot be cancelled.
package keylock

import (
	"context"
	"sync"
)

// Locks is one lock for each key, held while it is in use. The zero value works.
type Locks struct {
	mu  sync.Mutex
	all map[string]*lock
}

type lock struct {
	held  chan struct{} // holds one value while the lock is held
	users int           // callers that hold it or wait for it
}

// Lock waits for the lock of a key until ctx ends. The caller that got it calls unlock in the end.
func (l *Locks) Lock(ctx context.Context, key string) (unlock func(), err error) {
	l.mu.Lock()
	if l.all == nil {
		l.all = map[string]*lock{}
	}
	k := l.all[key]
	if k == nil {
		k = &lock{held: make(chan struct{}, 1)}
		l.all[key] = k
	}
	k.users++
	l.mu.Unlock()
	select {
	case k.held <- struct{}{}:
		return func() { <-k.held; l.leave(key, k) }, nil
	case <-ctx.Done():
		l.leave(key, k)
		return nil, ctx.Err()
	}
}

func (l *Locks) leave(key string, k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(l.all, key)
	}
}
