package disrupt

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/backoff"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/parallel"
)

const (
	// newLeaderWait is how long a replica that has become the leader only looks on before it moves any pods.
	newLeaderWait = disrupt.Calm * time.Second
	// lookEvery is the least time between two looks which pods could be moved, and
	// share the part of its time that is spent on looking at most.
	lookEvery = 10 * time.Second
	share     = 20
	// restless is how long pods that have just begun to wait, and machines that have
	// just been asked for, may keep others from being moved: where some always have, nothing ever settles.
	restless = 2 * time.Minute
	// anyway is when to look again although nothing is known to have changed.
	anyway = time.Minute
	// firstRetry and lastRetry bound the wait before a machine that was to go and stayed may be tried again.
	firstRetry = 5 * time.Minute
	lastRetry  = time.Hour
)

// Moving says how pods are moved to make a cluster cheaper, and to replace nodes that are too old or have drifted.
type Moving struct {
	Off        bool // none are
	Pack       pack.Options
	SpotToSpot bool
	Level      string // how much has to be saved for a move
}

// Options are what a decision about moves that only save depends on.
func (m Moving) Options() consolidate.Options {
	return consolidate.Options{SpotToSpot: m.SpotToSpot, Level: m.Level}
}

// looking is what a controller remembers of its looks. All of it can be forgotten.
type looking struct {
	began     time.Time
	last      time.Time             // when the last look ended
	took      time.Duration         // and how long it took
	changed   bool                  // since then
	busy      time.Time             // since when the cluster has not settled; zero: it has
	backlog   backlog               // of pods that wait for their places
	again     int64                 // when there may be more to do although nothing changes, in seconds since 1970; 0: never
	retries   backoff.Keyed[string] // claims of machines that were to go and stayed
	published map[string]time.Time  // claims of nodes of which it was said why their pods are not moved, and when
	saved     []time.Time           // when pods began to be moved to save, within rest
}

const (
	// rest is for how long pods that were moved to save stay where they are, unless moving them again saves much.
	rest = 10 * time.Minute
	// movedWithin is how long after moves began the pods of these come and go.
	movedWithin = time.Minute
)

// justMoved are the claims of machines on which pods came or went last when some were moved to save, within rest.
func (l *looking) justMoved(w *world.World, now time.Time) (claims []string) {
	l.saved = slices.DeleteFunc(l.saved, func(at time.Time) bool { return now.Sub(at) > rest })
	if len(l.saved) == 0 {
		return nil
	}
	for _, p := range w.Places() {
		if p.Claim == nil {
			continue
		}
		last := hold.LastPodChange(p.Claim)
		if slices.ContainsFunc(l.saved, func(at time.Time) bool { return last >= at.Unix() && last <= at.Add(movedWithin).Unix() }) {
			claims = append(claims, p.Claim.Name)
		}
	}
	slices.Sort(claims)
	return claims
}

// due is when to look next.
func (l *looking) due() time.Time {
	next := l.last.Add(max(lookEvery, share*l.took))
	if first := l.began.Add(newLeaderWait); next.Before(first) {
		next = first
	}
	if l.changed {
		return next
	}
	at := l.last.Add(anyway)
	if l.again > 0 && time.Unix(l.again, 0).Before(at) {
		at = time.Unix(l.again, 0)
	}
	if at.Before(next) {
		return next
	}
	return at
}

// forget forgets the retries of machines that are gone.
func (l *looking) forget(w *world.World) {
	there := map[string]bool{}
	for _, p := range w.Places() {
		if p.Claim != nil {
			there[p.Claim.Name] = true
		}
	}
	l.retries.Keep(func(claim string, _ time.Time) bool { return there[claim] })
}

// due is when to decide about everything next; false if pods are not to be moved now.
func (c *Controller) due(now time.Time, busy bool) (at time.Time, ok bool) {
	if c.Moving.Off || busy {
		return time.Time{}, false
	}
	return c.looking.due(), true
}

// busy reports whether it is better to wait until the cluster has settled.
func (c *Controller) busy(w *world.World) bool {
	now := c.Now()
	switch {
	case disrupt.Settled(w):
		c.looking.busy = time.Time{}
	case c.looking.busy.IsZero():
		c.looking.busy = now
	}
	return !c.looking.busy.IsZero() && now.Sub(c.looking.busy) < restless
}

// beginAll begins the new commands of a plan, and reports whether there were any. One that fails keeps no other.
func (c *Controller) beginAll(ctx context.Context, p plan.Plan) (any bool) {
	var fresh []plan.Command
	for _, m := range p.Commands {
		if !m.Begun && !m.Idle() && m.Verdict == plan.Begin {
			fresh = append(fresh, m)
		}
	}
	errs := make([]error, len(fresh))
	parallel.Do(parallel.Writes, fresh, func(i int, m plan.Command) { errs[i] = c.beginOne(ctx, m) })
	saved := false
	for i, m := range fresh {
		if err := errs[i]; err != nil {
			c.looking.changed = true
			if unbought := (purchaseError{}); errors.As(err, &unbought) {
				for _, g := range m.Back {
					c.looking.retries.Failed(g.Claim, c.Now())
				}
			}
			if ctx.Err() != nil {
				continue
			}
			if apierrors.IsConflict(err) || errors.Is(err, errOtherwise) { // it has just changed
				c.Log.V(1).Info("begin to give nodes back", "nodes", m.Nodes(), "reason", m.Reason, "error", err.Error())
				continue
			}
			c.Log.Error(err, "begin to give nodes back", "nodes", m.Nodes(), "reason", m.Reason)
			c.Metrics.Add(metric.DisruptionQueueFailures, 1, decisionOf(len(m.New) > 0), lower(m.Reason), kindOf(m.Reason, len(m.Back) > 1))
		}
		switch any = true; {
		case m.Reason != plan.Underutilized:
			c.looking.last = time.Time{} // there may be another
		case errs[i] == nil:
			saved = true
		}
	}
	if saved {
		c.looking.saved = append(c.looking.saved, c.Now())
	}
	return any
}

// beginOne begins a command, unless it replaces nodes of a static pool that has asked for nodes itself since it was
// decided, or is to have another number: both would take of the same limit.
func (c *Controller) beginOne(ctx context.Context, m plan.Command) error {
	of := c.Cluster.Recent(pace)
	if !slices.ContainsFunc(m.New, func(a plan.Ask) bool { p := of.Pool(a.Pool); return p != nil && p.Replicas != nil }) {
		return c.begin(ctx, m)
	}
	c.Enact.Static.Lock()
	defer c.Enact.Static.Unlock()
	if !disrupt.Replaceable(c.Cluster.World(), m) {
		return errOtherwise
	}
	return c.begin(ctx, m)
}

// errOtherwise is that a static pool is no longer as it was when a command was decided.
var errOtherwise = errors.New("the static pool has changed since: it is decided again")

// begin marks machines that are to go, and then asks for what their pods need.
// Where that cannot be done as a whole, it is taken back.
func (c *Controller) begin(ctx context.Context, m plan.Command) error {
	err := c.teller().Try(Name, func() error { return c.ask(ctx, m) }, "nodes", m.Nodes())
	if err != nil {
		for _, g := range m.Back {
			err = errors.Join(err, c.try(ctx, Step{Kind: Unmark, Claim: g.Claim, Node: g.Node}))
		}
		return err
	}
	labels := []string{decisionOf(len(m.New) > 0), lower(m.Reason), kindOf(m.Reason, len(m.Back) > 1)}
	c.Metrics.Add(metric.DisruptionDecisions, 1, labels...)
	c.Metrics.Add(metric.DisruptionDecisionsByPool, 1, append(labels, m.Back[0].Pool.Name)...)
	c.proposed(ctx, m)
	c.Log.Info("disrupting node(s)", "reason", lower(m.Reason), "decision", labels[0], "disrupted-node-count", len(m.Back), "replacement-node-count", len(m.New),
		"pod-count", m.Pods, "disrupted-nodes", m.Nodes(), "savings", m.Saving.PerHour(""))
	return nil
}

// purchaseError is why what a command needs could not be asked for: the command is not tried again for a while.
type purchaseError struct{ error }

// Unwrap returns what went wrong.
func (e purchaseError) Unwrap() error { return e.error }

func (c *Controller) ask(ctx context.Context, m plan.Command) error {
	for _, g := range m.Back {
		if err := c.mark(ctx, Step{Kind: Mark, Claim: g.Claim, Node: g.Node, Reason: g.Reason}, m.Moves); err != nil {
			return err
		}
	}
	if len(m.New) == 0 {
		return nil
	}
	if err := c.Enact.Replace(ctx, m.New, lower(m.Reason), m.Claims()); err != nil {
		return purchaseError{err}
	}
	return nil
}

// bought takes a step of a machine that was bought for others' pods.
func (c *Controller) bought(ctx context.Context, s Step, claim *v1.NodeClaim) error {
	switch s.Kind {
	case Await:
		if claim.Conditions().Is(v1.ConditionLaunched) {
			c.Events.Normal(claim, "DisruptionWaitingReadiness", "Waiting on readiness to continue disruption")
		} else {
			c.Events.Normal(claim, "DisruptionLaunching", "Launching NodeClaim: %s", s.Reason)
		}
		return nil
	case Return:
		return c.Enact.Release(ctx, claim, enact.Empty)
	}
	next, err := loop.Patch(ctx, c.Client, claim, func(claim *v1.NodeClaim) { delete(claim.Annotations, annotation.Replaces) })
	if err == nil {
		c.Cluster.Wrote(next)
	}
	return changed(err)
}

// takenBack notes that a machine stays whose pods were to move.
func (c *Controller) takenBack(s Step) {
	c.looking.retries.Failed(s.Claim, c.Now())
	c.Log.Info("the node stays after all", "Node", s.Node, "reason", lower(s.Reason), "why", s.Why)
	switch {
	case !s.First:
	case s.Bought:
		c.Metrics.Add(metric.DisruptionQueueFailures, 1, decisionOf(true), lower(s.Reason), kindOf(s.Reason, s.Many))
	default:
		c.Metrics.Add(metric.DisruptionFailedValidations, 1, kindOf(s.Reason, s.Many))
	}
}
