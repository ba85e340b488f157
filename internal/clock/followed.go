package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// What is held against a clock that differs from another's.
const (
	// Tolerated is by how much two clocks may differ without meaning anything: it
	// is more than answers take, and less than anything here waits for.
	Tolerated = time.Minute
	sure      = 15 * time.Second // for which a clock has to differ by the same before that is believed
)

// Gap is by how much a clock is ahead of another's: something between the two. It is negative if it is behind.
type Gap struct{ Least, Most time.Duration }

// Compare returns the gap between the clock that showed asked before a question
// and answered after it, and the one that dated the answer in whole seconds.
func Compare(asked, answered, dated time.Time) Gap {
	return Gap{asked.Sub(dated) - time.Second, answered.Sub(dated)}
}

// nearest is the length within the gap that is nearest to another.
func (g Gap) nearest(to time.Duration) time.Duration { return min(max(to, g.Least), g.Most) }

// Followed shows the time of day of another computer, and counts what passes by
// a clock of its own. What that is ahead by is measured once: a correction that
// changed would have all that is waited for come early or late. When the own clock is
// set, the other decides what that means, and until then dates go on as they were.
// Its methods may be called from several goroutines.
type Followed struct {
	own   Now
	ahead time.Duration             // the own clock
	from  atomic.Pointer[time.Time] // of the own clock, since when it is believed not to have been set

	mu    sync.Mutex
	apart time.Duration // by which both differed lately; 0: not worth mentioning
	since time.Time
	lost  chan struct{}
	once  sync.Once
}

// Follow returns a clock that shows what is shown where the own clock is ahead by
// a gap. One that is tolerated is none: then it is the own clock.
func Follow(own Now, g Gap) *Followed {
	f := &Followed{own: own, lost: make(chan struct{})}
	now := own()
	f.from.Store(&now)
	if g.nearest(0).Abs() > Tolerated {
		f.ahead = (g.Least + g.Most) / 2
	}
	return f
}

// Now is the time.
func (f *Followed) Now() time.Time {
	at := f.own()
	return at.Add(-f.ahead - f.set(at))
}

// set is by how much the own clock has been set ahead, which is what it shows more than it has counted.
func (f *Followed) set(at time.Time) time.Duration {
	from := *f.from.Load()
	set := at.Round(0).Sub(from.Round(0)) - at.Sub(from)
	if set.Abs() <= Tolerated {
		return 0
	}
	return set
}

// Ahead is by how much the own clock is corrected.
func (f *Followed) Ahead() time.Duration { return f.ahead }

// Heard says by how much Now is ahead of what is followed.
func (f *Followed) Heard(g Gap) {
	at, apart := f.own(), g.nearest(0)
	set := f.set(at)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case apart.Abs() <= Tolerated:
		if f.apart = 0; set != 0 {
			f.end() // dates are right, and what is counted is not
		}
	case f.apart == 0 || (apart-f.apart).Abs() > Tolerated/2:
		f.apart, f.since = apart, at
	case at.Sub(f.since) < sure:
	case set != 0 && f.ahead == 0:
		f.from.Store(&at) // the own clock is right, and was set by a computer that slept
		f.apart = 0
	default:
		f.end()
	}
}

func (f *Followed) end() { f.once.Do(func() { close(f.lost) }) }

// Lost is closed when one of the two clocks was set: what is waited for is by
// neither any more, and only a Followed that begins again is right again.
func (f *Followed) Lost() <-chan struct{} { return f.lost }
