// Package journal keeps the last worlds and the plans made of them, to be explained and replayed.
//
// A Journal keeps them in memory; a Folder writes them to files besides. What
// is kept of a World holds no secret, because Worlds hold none.
package journal

import (
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/disrupt/replace"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// The kinds of decision.
const (
	Buy         = "provisioner"   // what to ask for
	GiveBack    = "disruption"    // what to give back
	Consolidate = "consolidation" // what to give back although pods run there, and what to buy for these
	Drift       = "drift"         // which drifted machine to replace, and by what
	Judge       = "judge"         // whether what has been begun may be carried on; kept only if it broke
)

// Entry is one decision: what it was made of and what it was.
type Entry struct {
	Kind    string // which decision
	World   *world.World
	Options Options
	Plan    plan.Plan
	Panic   string // what went wrong in the decision, if it did not come to its end
	Release string // of the program that decided
}

// Options are what a decision depends on beside its World; those of other decisions are zero.
type Options struct {
	Provision   provision.Options   `json:"provision,omitzero"`
	Disrupt     disrupt.Options     `json:"disrupt,omitzero"`
	Consolidate consolidate.Options `json:"consolidate,omitzero"`
	Drift       replace.Options     `json:"drift,omitzero"`
}

// Journal keeps a bounded number of entries. Its methods may be called from several goroutines.
type Journal struct {
	keep    int
	release string
	also    func(Entry) // told of every entry that is kept; may be nil

	mu      sync.Mutex
	entries []Entry // oldest first
	weights []int64 // about what each holds, the latest one's World apart
	most    int64   // of them together
}

// New returns a journal of so many entries at most, made by a release of the program, and fewer
// where they hold much memory. Every entry that it keeps it passes on to also, if that is not nil.
func New(keep int, release string, also func(Entry)) *Journal {
	return &Journal{keep: max(keep, 1), release: release, also: also, most: mostBytes}
}

// Add keeps a decision; the oldest makes room for it. A decision that repeats
// the last of its kind on the same World is not kept again.
func (j *Journal) Add(e Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if last, ok := j.last(e.Kind); ok && last.World.Digest() == e.World.Digest() && e.Panic == last.Panic {
		return
	}
	e.Release = j.release
	if n := len(j.entries); n > 0 {
		j.weights[n-1] += apart(j.entries[n-1].World, e.World)
	}
	j.entries, j.weights = append(j.entries, e), append(j.weights, held(reflect.ValueOf(e.Plan), map[unsafe.Pointer]bool{}))
	j.shed()
	if j.also != nil {
		j.also(e)
	}
}

// shed lets go of the oldest entries while there are too many or they hold too much.
func (j *Journal) shed() {
	hold, gone := int64(0), 0
	for _, w := range j.weights {
		hold += w
	}
	for n := len(j.entries); n-gone > j.keep || n-gone > fewest && hold > j.most; gone++ {
		hold -= j.weights[gone]
	}
	j.entries, j.weights = slices.Delete(j.entries, 0, gone), slices.Delete(j.weights, 0, gone)
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
