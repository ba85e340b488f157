// Package turn lets one caller at a time work on a thing while others wait, or give up waiting.
package turn

import (
	"context"
	"sync"
)

// Line is where callers wait, for each key apart. The zero value works.
type Line struct {
	mu  sync.Mutex
	all map[string]*place
}

type place struct {
	busy   chan struct{} // holds one value while someone works
	people int           // who work or wait
}

// Take waits for the turn at key. Whoever got it calls done in the end.
func (l *Line) Take(ctx context.Context, key string) (done func(), err error) {
	l.mu.Lock()
	if l.all == nil {
		l.all = map[string]*place{}
	}
	p := l.all[key]
	if p == nil {
		p = &place{busy: make(chan struct{}, 1)}
		l.all[key] = p
	}
	p.people++
	l.mu.Unlock()
	select {
	case p.busy <- struct{}{}:
		return func() { <-p.busy; l.leave(key, p) }, nil
	case <-ctx.Done():
		l.leave(key, p)
		return nil, ctx.Err()
	}
}

func (l *Line) leave(key string, p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.people--; p.people == 0 {
		delete(l.all, key)
	}
}
