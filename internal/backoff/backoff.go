// Package backoff has what fails again and again wait longer each time.
//
// flowcontrol.Backoff of client-go is not it: what it counts is forgotten a while
// after the last failure, which is wrong where the waits themselves are that long;
// it cannot say what waits, and its clock is another than ours.
package backoff

import (
	"maps"
	"time"
)

// Keyed is how long each of many things waits: First after the first failure, and
// twice as long after every further one, up to Last. The caller guards it.
type Keyed[K comparable] struct {
	First, Last time.Duration

	by map[K]entry
}

type entry struct {
	until time.Time
	wait  time.Duration
}

// Failed notes a failure, and returns when the wait for it ends. A failure while
// the wait for an earlier one lasts is the same, seen again.
func (k *Keyed[K]) Failed(key K, now time.Time) time.Time {
	e := k.by[key]
	if now.Before(e.until) {
		return e.until
	}
	if k.by == nil {
		k.by = map[K]entry{}
	}
	e.wait = min(max(2*e.wait, k.First), k.Last)
	e.until = now.Add(e.wait)
	k.by[key] = e
	return e.until
}

// Renew notes a failure, and begins the wait for an earlier one again if that lasts
// still: it is the same failure, and goes on.
func (k *Keyed[K]) Renew(key K, now time.Time) {
	if e := k.by[key]; now.Before(e.until) {
		e.until = now.Add(e.wait)
		k.by[key] = e
		return
	}
	k.Failed(key, now)
}

// Waits reports whether something waits.
func (k *Keyed[K]) Waits(key K, now time.Time) bool { return now.Before(k.by[key].until) }

// Waiting are all that wait, in no order.
func (k *Keyed[K]) Waiting(now time.Time) []K {
	var out []K
	for key, e := range k.by {
		if now.Before(e.until) {
			out = append(out, key)
		}
	}
	return out
}

// Forget has the next failure of something be its first.
func (k *Keyed[K]) Forget(key K) { delete(k.by, key) }

// Keep forgets all but what it is asked to keep, by when the last wait ended or will.
func (k *Keyed[K]) Keep(keep func(key K, until time.Time) bool) {
	maps.DeleteFunc(k.by, func(key K, e entry) bool { return !keep(key, e.until) })
}
