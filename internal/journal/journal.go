// Package journal keeps the last worlds and the plans made of them, to be explained and replayed.
//
// Decisions that did something stay for a day, within a bounded amount of memory.
// Those that did nothing are counted; only the latest of each kind is there.
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
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/static"
	"github.com/tenon-sh/tenon/engine/world"
)

// The kinds of decision.
const (
	Buy      = "provisioner" // what to ask for
	GiveBack = "disruption"  // what to give back, and what is done about what has begun to go
	Static   = "static"      // how many machines static pools have: what to ask for and what to end
)

// Entry is one decision: what it was made of and what it was.
type Entry struct {
	Kind    string // which decision
	World   *world.World
	Options Options
	Plan    plan.Plan
	Panic   string // what went wrong in the decision, if it did not come to its end
	Release string // of the program that decided
	// Deleted is why claims were deleted that are going away, or went since the entry before, in the words of metrics; of
	// those whose reason is known.
	Deleted map[string]string
	Quiet   int    // how many of the kind, since the one before that is kept, did nothing
	Shadow  bool   // it was made beside the controller in charge, and only reported
	Parted  string // the kind that an earlier release kept it under, which decided in parts about giving back; its plan is not kept
}

// Acts reports whether the decision did anything: it asked for machines, had some go or stay after all, or did not come to its end.
func (e Entry) Acts() bool { return e.Plan.Acts() || e.Panic != "" }

// Again makes the decision of the entry's kind again, with the options that it was made with.
func (e Entry) Again() plan.Plan {
	switch e.Kind {
	case GiveBack:
		return disrupt.Decide(e.World, e.Options.Disrupt)
	case Static:
		return static.Decide(e.World, e.Options.Static)
	}
	return provision.Decide(e.World, e.Options.Provision)
}

// Options are what a decision depends on beside its World; those of other decisions are zero.
type Options struct {
	Provision provision.Options `json:"provision,omitzero"`
	Disrupt   disrupt.Options   `json:"disrupt,omitzero"`
	Static    static.Options    `json:"static,omitzero"`
}

// keptFor is how long decisions that did something stay, in seconds.
const keptFor = 24 * 60 * 60

// Journal keeps a bounded number of entries. Its methods may be called from several goroutines.
type Journal struct {
	// Deleted says why a claim was deleted; empty: that is not known. It may be nil, and is not changed once there are entries.
	Deleted func(claim string) string

	keep    int
	release string
	also    func(Entry) // receives every entry; may be nil

	mu      sync.Mutex
	entries []Entry  // oldest first
	weights []weight // about what each holds
	most    int64    // of them together
}

// weight is about how many bytes an entry holds.
type weight struct {
	plan  int64
	world int64 // what its World holds that the next entry's does not; 0 for the latest
	quiet bool  // the entry did nothing: the next of its kind takes its place
}

// New returns a journal of so many entries at most, made by a release of the program, and fewer
// where they hold much memory or are older than a day. Every entry that is added it passes on to
// also, if that is not nil, but for those that repeat the one before.
func New(keep int, release string, also func(Entry)) *Journal {
	return &Journal{keep: max(keep, 1), release: release, also: also, most: mostBytes}
}

// Add keeps a decision. It takes the place of the last of its kind if that did
// nothing; the oldest makes room for it otherwise. A decision that repeats the
// last of its kind on the same World is not kept again.
func (j *Journal) Add(e Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Deleted = j.deleted(e.World)
	var before *Entry
	if i := j.last(e.Kind); i >= 0 {
		last := j.entries[i]
		before = &last
		if last.World.Digest() == e.World.Digest() && e.Panic == last.Panic {
			return
		}
		if e.Quiet = 0; j.weights[i].quiet {
			e.Quiet = last.Quiet + 1
			j.drop(i)
		}
	}
	e.Release = j.release
	if n := len(j.entries); n > 0 {
		j.weights[n-1].world = apart(j.entries[n-1].World, e.World)
	}
	j.entries = append(j.entries, e)
	j.weights = append(j.weights, weight{plan: held(reflect.ValueOf(e.Plan), map[unsafe.Pointer]bool{}), quiet: !e.Acts() && !refusesAnew(e, before) && !tellsMore(e, before)})
	j.shed()
	if j.also != nil {
		j.also(e)
	}
}

// deleted is why claims were deleted that are going away, or are in the last World and in this one no more.
func (j *Journal) deleted(w *world.World) map[string]string {
	if j.Deleted == nil {
		return nil
	}
	out := map[string]string{}
	note := func(claim string) {
		if why := j.Deleted(claim); why != "" {
			out[claim] = why
		}
	}
	there := map[string]bool{}
	for _, p := range w.Places() {
		if p.Claim == nil {
			continue
		}
		if there[p.Claim.Name] = true; p.Claim.Deleting {
			note(p.Claim.Name)
		}
	}
	if n := len(j.entries); n > 0 {
		for _, p := range j.entries[n-1].World.Places() {
			if p.Claim != nil && !there[p.Claim.Name] {
				note(p.Claim.Name)
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// tellsMore reports whether an entry says of a claim why it was deleted of which the one before, nil if there is none, does not.
func tellsMore(e Entry, before *Entry) bool {
	for claim := range e.Deleted {
		if before == nil || before.Deleted[claim] == "" {
			return true
		}
	}
	return false
}

// refusesAnew reports whether an entry refuses a pod that the one before, nil if
// there is none, did not refuse, or refused for something else. Figures in the
// reasons do not count: they move with every node.
func refusesAnew(e Entry, before *Entry) bool {
	if len(e.Plan.Refused) == 0 {
		return false
	}
	type refusal struct {
		pod      world.Key
		uid, why string
	}
	known := map[refusal]bool{}
	if before != nil {
		for _, r := range before.Plan.Refused {
			known[refusal{r.Pod, r.UID, codes(r.Why)}] = true
		}
	}
	return slices.ContainsFunc(e.Plan.Refused, func(r plan.Refusal) bool { return !known[refusal{r.Pod, r.UID, codes(r.Why)}] })
}

// codes are the reasons of a refusal without their details.
func codes(w *reason.Why) string {
	if w == nil {
		return ""
	}
	all := string(w.Code) + " " + w.Subject
	for _, c := range w.Causes {
		all += "(" + codes(c) + ")"
	}
	return all
}

// drop takes an entry out.
func (j *Journal) drop(i int) {
	j.entries, j.weights = slices.Delete(j.entries, i, i+1), slices.Delete(j.weights, i, i+1)
	switch {
	case i == 0:
	case i < len(j.entries):
		j.weights[i-1].world = apart(j.entries[i-1].World, j.entries[i].World)
	default:
		j.weights[i-1].world = 0
	}
}

// shed drops the oldest entries while there are too many, they are too old or they hold too much.
func (j *Journal) shed() {
	hold, gone := int64(0), 0
	for _, w := range j.weights {
		hold += w.plan + w.world
	}
	n := len(j.entries)
	since := j.entries[n-1].World.At() - keptFor
	for ; n-gone > j.keep || n-gone > fewest && (hold > j.most || j.entries[gone].World.At() < since); gone++ {
		hold -= j.weights[gone].plan + j.weights[gone].world
	}
	j.entries, j.weights = slices.Delete(j.entries, 0, gone), slices.Delete(j.weights, 0, gone)
}

// Last returns the latest decision of a kind.
func (j *Journal) Last(kind string) (Entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if i := j.last(kind); i >= 0 {
		return j.entries[i], true
	}
	return Entry{}, false
}

// last is where the latest decision of a kind is; -1 if there is none.
func (j *Journal) last(kind string) int {
	for i, e := range slices.Backward(j.entries) {
		if e.Kind == kind {
			return i
		}
	}
	return -1
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
