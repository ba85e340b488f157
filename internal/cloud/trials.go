package cloud

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/clock"
)

const (
	// reportTroubleAfter is how long an error that passes by itself, such as throttling, is not reported.
	reportTroubleAfter = time.Minute
	// maxTrials is of how many things it is known at most since when they are tried in vain.
	maxTrials = 10_000
)

// Trials knows since when things are tried in vain. What is tried again and again
// is reported by its rule, whatever it is: in the cloud's words, and since when. The
// zero Trials is ready to use.
type Trials struct {
	mu    sync.Mutex
	since map[string]time.Time // by what is tried
}

// LastingError is an error that should have passed by itself and has not.
type LastingError struct {
	Err   error
	Since time.Time // when what failed was first tried in vain
}

// Error returns the provider's own words, and since when they are heard.
func (l *LastingError) Error() string { return l.Err.Error() + "; tried since " + stamp(l.Since) }

// Unwrap returns the error without the time.
func (l *LastingError) Unwrap() error { return l.Err }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Lasts reports whether err is to be reported to people: it passes only if a person
// does something, or it should have passed by itself and has not.
func Lasts(err error) bool {
	if _, long := errors.AsType[*LastingError](err); long {
		return true
	}
	return err != nil && CodeOf(err) != Throttled && !errors.Is(err, context.Canceled)
}

// Note takes down how something came out that was begun at began. It returns err,
// with since when it fails once that is long.
func (t *Trials) Note(what string, began, now time.Time, err error) error {
	if err == nil {
		t.Over(what)
		return nil
	}
	since := t.Failed(what, began)
	if now.Sub(since) < reportTroubleAfter {
		return err
	}
	return &LastingError{Err: err, Since: since}
}

// Try does something and notes how it came out.
func (t *Trials) Try(what string, now clock.Now, do func() error) error {
	began := now()
	err := do()
	return t.Note(what, began, now(), err)
}

// Failed notes that something that was begun at began has failed, and returns
// since when it does.
func (t *Trials) Failed(what string, began time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if since, known := t.since[what]; known {
		return since
	}
	if t.since == nil || len(t.since) >= maxTrials {
		t.since = map[string]time.Time{}
	}
	t.since[what] = began
	return began
}

// Over forgets that something failed: it has succeeded, or is not tried any more.
func (t *Trials) Over(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.since, what)
}

// Trouble is that calls of one method fail for long although they are tried again, or the end of that.
type Trouble struct {
	Method string    // as metrics name it
	Since  time.Time // when the first of them began; zero: they succeed again
	Err    error     // why the last one failed; nil likewise
}

// reportAgainAfter is how long after it was reported trouble that has not ended is reported again.
const reportAgainAfter = 5 * time.Minute

// troubles is what was reported of calls that fail for long.
type troubles struct {
	trials Trials

	mu       sync.Mutex
	reported map[string]time.Time // by method, when it was reported last
}

// note takes down how one call came out, and returns what there is to report of it; false: nothing.
func (t *troubles) note(method string, began, now time.Time, err error) (Trouble, bool) {
	switch CodeOf(err) {
	case Throttled, Unauthorised, Unknown:
	default:
		err = nil // it was answered: what is wrong with one machine or one class is theirs to report
	}
	var since time.Time
	if err != nil {
		since = t.trials.Failed(method, began)
	} else {
		t.trials.Over(method)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	at, reported := t.reported[method]
	switch {
	case err == nil && reported:
		delete(t.reported, method)
		return Trouble{Method: method}, true
	case err == nil, now.Sub(since) < reportTroubleAfter, reported && now.Sub(at) < reportAgainAfter:
		return Trouble{}, false
	}
	if t.reported == nil {
		t.reported = map[string]time.Time{}
	}
	t.reported[method] = now
	return Trouble{Method: method, Since: since, Err: err}, true
}
