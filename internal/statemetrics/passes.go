package statemetrics

import (
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/metric"
)

// Passes knows which decisions are being made, and since when: of one that takes
// long, no duration is observed before its end.
type Passes struct {
	now clock.Now

	mu      sync.Mutex
	running map[pass]time.Time
}

type pass struct{ controller, id string }

// NewPasses returns Passes of which none is running.
func NewPasses(now clock.Now) *Passes { return &Passes{now: now, running: map[pass]time.Time{}} }

// Begin notes that a controller decides of the World with this digest, until what it returns is called.
func (p *Passes) Begin(controller, world string) (end func()) {
	if p == nil {
		return func() {}
	}
	one := pass{controller, world}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[one] = p.now()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.running, one)
	}
}

// Samples are how long each decision has been taking.
func (p *Passes) Samples() Samples {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, now := Samples{}, p.now()
	for one, since := range p.running {
		s.add(metric.SchedulerUnfinished, now.Sub(since).Seconds(), one.controller, one.id)
	}
	return s
}
