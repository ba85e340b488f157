package disrupt

import (
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/disrupt/replace"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

const (
	// passes is how long a command that buys nothing waits for what passes by
	// itself, such as a pod disruption budget that allows nothing now.
	passes = 5 * time.Minute
	// glance is how soon a command is judged again that waits, whatever happens.
	glance = 5 * time.Second
)

// Carry returns the steps that are due for what has been begun, given how each
// command stands and since when this process knows each node to be marked, and
// how long until the next step is due. planned are machines that waiting pods
// are on their way to.
func Carry(b disrupt.Begun, standings []replace.Standing, planned []string, marked map[string]time.Time, now time.Time) (steps []Step, wait time.Duration) {
	var newest time.Time // mark of a machine that nothing was bought for: these may be of one command, of which not all is seen
	for _, c := range b.Commands {
		if len(c.New) == 0 {
			newest = latest(newest, c, marked)
		}
	}
	for i, c := range b.Commands {
		since := latest(time.Time{}, c, marked)
		if len(c.New) == 0 {
			since = newest
		}
		due, later := carry(c, standings[i], marked, since, now)
		steps = append(steps, due...)
		if later > 0 {
			wait = soonest(wait, later)
		}
	}
	for _, p := range b.Strays {
		s := Step{Kind: Return, Claim: p.Claim.Name}
		if !hold.IsEmpty(p) || slices.Contains(planned, p.Name()) || slices.Contains(planned, p.Claim.Name) {
			s.Kind = Adopt
		}
		steps = append(steps, s)
	}
	return steps, wait
}

// latest is when the last of the command's machines was marked, or at, if that is later.
func latest(at time.Time, c disrupt.Command, marked map[string]time.Time) time.Time {
	for _, p := range c.Back {
		if m := marked[p.Node.Name]; m.After(at) {
			at = m
		}
	}
	return at
}

// carry is Carry for one command, of which the last machine was marked at since.
func carry(c disrupt.Command, s replace.Standing, marked map[string]time.Time, since, now time.Time) ([]Step, time.Duration) {
	each := func(k Kind) (out []Step) {
		for _, p := range c.Back {
			step := Step{Kind: k, Claim: p.Claim.Name, Node: p.Node.Name, Reason: c.Reason, Begun: true, Bought: len(c.New) > 0, Many: len(c.Back) > 1}
			if k == Unmark && s.Why != nil {
				step.Why = s.Why.Line()
			}
			out = append(out, step)
		}
		return out
	}
	var unmarked []Step
	for i, p := range c.Back {
		if _, known := marked[p.Node.Name]; !known {
			unmarked = append(unmarked, each(Mark)[i])
		}
	}
	settled := len(unmarked) == 0 && now.Sub(since) >= settle
	switch {
	case s.Why != nil && !s.Passing && !s.Missing:
		return each(Unmark), 0
	case len(unmarked) > 0:
		return unmarked, settle
	case !settled:
		return nil, max(settle-now.Sub(since), time.Millisecond) // pods that came just before the mark, or what was bought, may not be seen yet
	case s.May:
		return each(End), 0
	case s.Missing, len(c.New) == 0 && now.Sub(since) >= passes:
		return each(Unmark), 0
	}
	return awaiting(c), glance
}

// awaiting are the machines that a command waits for.
func awaiting(c disrupt.Command) []Step {
	var out []Step
	for _, p := range c.New {
		if p.Whole() {
			continue
		}
		s := Step{Kind: Await, Claim: p.Claim.Name, Reason: c.Reason}
		if p.Node != nil {
			s.Node = p.Node.Name
		}
		out = append(out, s)
	}
	return out
}

// Settled reports whether what was decided last about pods and machines can be
// seen, so that it makes sense to look which machines could go: pods have just
// begun to wait, or machines have just been asked for, are reasons to wait.
func Settled(w *world.World) bool {
	for _, p := range w.Waiting() {
		fresh := w.At()-p.Created < int64(calm/time.Second)
		if p.Waiting && p.Moves() && !p.Gated && (fresh || p.Planned != "") {
			return false
		}
	}
	for _, p := range w.Places() {
		if p.Claim != nil && !p.Deleting() && p.Claim.ProviderID == "" && w.At()-p.Claim.Created < int64(time.Minute/time.Second) {
			return false
		}
	}
	return true
}

// quietFor reports whether no pod has come to any of the machines or gone from them for calm.
func quietFor(w *world.World, claims []string) bool {
	for _, p := range w.Places() {
		if p.Claim != nil && slices.Contains(claims, p.Claim.Name) && w.At()-hold.Quiet(p.Claim) < int64(calm/time.Second) {
			return false
		}
	}
	return true
}

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

// kindOf is what metrics call a consolidation of so many machines.
func kindOf(reason string, many bool) string {
	switch {
	case reason != plan.Underutilized:
		return ""
	case many:
		return "multi"
	}
	return "single"
}

// decisionOf is what metrics call a decision.
func decisionOf(bought bool) string {
	if bought {
		return "replace"
	}
	return "delete"
}

func lower(reason string) string { return strings.ToLower(reason) }
