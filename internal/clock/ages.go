package clock

import (
	"sync"
	"time"
)

// Ages counts how long ago things happened that are dated somewhere else, such
// as in the status of an object. A date is compared with the clock once, when it
// is seen first; from then on what passes is counted. So a clock that is set, or
// a computer that sleeps, makes nothing older or younger than it was. The zero
// Ages is ready to use.
type Ages struct {
	mu    sync.Mutex
	began time.Time
	seen  map[string]map[string]sight // by object, and what happened to it
}

// sight is a date, and what was known when it was seen first.
type sight struct {
	date  time.Time
	age   time.Duration
	since time.Duration // of the count
}

// Since is how long ago something happened to an object at a date. It is
// negative for a date in the future. The zero date is that of the first look.
func (a *Ages) Since(now Now, object, what string, date time.Time) time.Duration {
	at := now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.began.IsZero() {
		a.began = at
	}
	return a.at(object, what, date, at, at.Sub(a.began)) // which steps of the clock do not change
}

// Waited is Since that is never negative: what is dated in the future, because a
// clock was set back meanwhile, counts from when it is seen first.
func (a *Ages) Waited(now Now, object, what string, date time.Time) time.Duration {
	return a.SinceShown(now, object, what, date, now())
}

// SinceShown is Since where the clock that dated it, which may be any computer's,
// has since shown a time: it was no longer ago than that says, or than ours does.
func (a *Ages) SinceShown(now Now, object, what string, date, shown time.Time) time.Duration {
	at := now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.began.IsZero() {
		a.began = at
	}
	steady := at.Sub(a.began)
	if s, ok := a.seen[object][what]; !ok || !s.date.Equal(date) {
		if shown.After(at) {
			shown = at
		}
		if shown.Before(date) {
			shown = date
		}
		a.at(object, what, date, shown, steady)
	}
	return a.at(object, what, date, at, steady)
}

// at is Since by a clock that shows wall when steady has been counted.
func (a *Ages) at(object, what string, date, wall time.Time, steady time.Duration) time.Duration {
	s, ok := a.seen[object][what]
	if !ok || !s.date.Equal(date) {
		s = sight{date: date, since: steady}
		if !date.IsZero() {
			s.age = wall.Sub(date)
		}
		if a.seen == nil {
			a.seen = map[string]map[string]sight{}
		}
		if a.seen[object] == nil {
			a.seen[object] = map[string]sight{}
		}
		a.seen[object][what] = s
	}
	return s.age + steady - s.since
}

// Forget drops what is known of an object.
func (a *Ages) Forget(object string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.seen, object)
}
