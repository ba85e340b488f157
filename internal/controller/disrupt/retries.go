package disrupt

import (
	"slices"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
)

// retries are the machines that were to go and stayed, and when they may be tried again.
type retries struct{ by map[string]retry }

type retry struct {
	until time.Time
	wait  time.Duration
}

// The waits between two tries to have the same machine go.
const (
	firstRetry = 5 * time.Minute
	lastRetry  = time.Hour
)

// failed notes that a machine stayed.
func (r *retries) failed(claim string, now time.Time) {
	was := r.by[claim]
	if now.Before(was.until) {
		return // it is the same failure
	}
	if r.by == nil {
		r.by = map[string]retry{}
	}
	wait := min(max(2*was.wait, firstRetry), lastRetry)
	r.by[claim] = retry{now.Add(wait), wait}
}

// waits reports whether a machine is not to be tried yet.
func (r *retries) waits(claim string, now time.Time) bool { return now.Before(r.by[claim].until) }

// waiting are the machines that are not to be tried yet, in order.
func (r *retries) waiting(now time.Time) []string {
	var out []string
	for claim := range r.by {
		if r.waits(claim, now) {
			out = append(out, claim)
		}
	}
	slices.Sort(out)
	return out
}

// prune forgets machines that are gone.
func (r *retries) prune(w *world.World) {
	there := map[string]bool{}
	for _, p := range w.Places() {
		if p.Claim != nil {
			there[p.Claim.Name] = true
		}
	}
	for claim := range r.by {
		if !there[claim] {
			delete(r.by, claim)
		}
	}
}
