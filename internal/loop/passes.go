package loop

import (
	"context"
	"time"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/panics"
)

// afterPanic is how long a pass that broke is not tried again, unless something
// changes: what broke it is most likely still there.
const afterPanic = time.Minute

// Passes looks at the whole cluster again and again, for controllers whose
// decisions are about more than one object: when something has changed, and when
// something is due by itself.
type Passes struct {
	Name   string        // in logs and metrics of a pass that breaks
	Pace   time.Duration // the least time from the beginning of a pass to that of the next
	Now    clock.Now
	Panics panics.Teller

	wake chan struct{}
}

// NewPasses returns passes that can be woken before they run.
func NewPasses(p Passes) *Passes {
	p.wake = make(chan struct{}, 1)
	return &p
}

// Wake has the next pass begin as soon as the pace allows. It does not wait.
func (p *Passes) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Run makes the first pass after a while, and others until ctx ends. A pass
// returns when the next is due although nothing changes; 0 if none is.
func (p *Passes) Run(ctx context.Context, first time.Duration, pass func(context.Context) time.Duration) {
	began := p.Now()
	due := began.Add(first)
	timer := time.NewTimer(first)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
			if soonest := began.Add(p.Pace); due.IsZero() || soonest.Before(due) {
				due = soonest
				timer.Reset(p.Now.Until(due))
			}
			continue
		case <-timer.C:
		}
		began, due = p.Now(), time.Time{}
		wait := afterPanic
		p.Panics.Do(p.Name, func() { wait = pass(ctx) }, "again", "in a minute")
		if wait > 0 {
			wait = max(wait, p.Pace)
			due = p.Now().Add(wait)
			timer.Reset(wait)
		}
	}
}
