// Package journal keeps the last worlds and the plans made of them, to be explained and replayed.
package journal

import (
	"slices"
	"sync"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Entry is one decision: what it was made of and what it was.
type Entry struct {
	Kind  string // which decision: provision, disrupt
	World *world.World
	Plan  plan.Plan
	Panic string // what went wrong in the decision, if it did not come to its end
}

// Journal keeps a bounded number of entries. Its methods may be called from several goroutines.
type Journal struct {
	keep int

	mu      sync.Mutex
	entries []Entry // oldest first
}

// New returns a journal of so many entries.
func New(keep int) *Journal { return &Journal{keep: max(keep, 1)} }

// Add keeps a decision; the oldest makes room for it. A decision that repeats
// the last of its kind on the same World is not kept again.
func (j *Journal) Add(e Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if last, ok := j.last(e.Kind); ok && last.World.Digest() == e.World.Digest() && e.Panic == last.Panic {
		return
	}
	if len(j.entries) >= j.keep {
		j.entries = slices.Delete(j.entries, 0, len(j.entries)-j.keep+1)
	}
	j.entries = append(j.entries, e)
}

// Last returns the latest decision of a kind.
func (j *Journal) Last(kind string) (Entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last(kind)
}

func (j *Journal) last(kind string) (Entry, bool) {
	for _, e := range slices.Backward(j.entries) {
		if e.Kind == kind {
			return e, true
		}
	}
	return Entry{}, false
}

// Find returns the decision made of the World of that digest.
func (j *Journal) Find(digest string) (Entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range slices.Backward(j.entries) {
		if e.World.Digest() == digest {
			return e, true
		}
	}
	return Entry{}, false
}

// All returns every decision that is kept, latest first.
func (j *Journal) All() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := slices.Clone(j.entries)
	slices.Reverse(out)
	return out
}
