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
	"github.com/tenon-sh/tenon/engine/disrupt/replace"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/panics"
)

const (
	// calm is how long nothing has come to a machine or gone from it before its
	// pods are moved, whatever its pool says, and how long whoever begins to lead
	// looks on before it moves any.
	calm = 15 * time.Second
	// every is the least time between two looks which pods could be moved, and
	// share the part of its time that is spent on looking at most.
	every = 10 * time.Second
	share = 20
	// restless is how long pods that have just begun to wait, and machines that have
	// just been asked for, may keep others from being moved: where some always have, nothing ever settles.
	restless = 2 * time.Minute
	// anyway is when to look again although nothing is known to have changed.
	anyway = time.Minute
)

// Moving says how pods are moved to make a cluster cheaper, and to replace nodes that are too old or have drifted.
type Moving struct {
	Off        bool // none are
	Pack       pack.Options
	SpotToSpot bool
}

// looking is what a controller remembers of its looks. All of it can be forgotten.
type looking struct {
	began   time.Time
	last    time.Time     // when the last look ended
	took    time.Duration // and how long it took
	changed bool          // since then
	stirred time.Time     // since when the cluster has not settled; zero: it has
	backlog backlog       // of pods that wait for their places
	again   int64         // when there may be more to do although nothing changes, in seconds since 1970; 0: never
	retries retries
	meant   map[world.Key]string // where pods are to go, by what was begun
	told    map[string]time.Time // claims of nodes of which it was said why their pods are not moved, and when
}

// due is when to look next.
func (l *looking) due() time.Time {
	next := l.last.Add(max(every, share*l.took))
	if first := l.began.Add(calm); next.Before(first) {
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

// mean remembers where pods are to go.
func (l *looking) mean(m move) {
	if l.meant == nil {
		l.meant = map[world.Key]string{}
	}
	for _, f := range m.To {
		for _, k := range f.Pods {
			l.meant[k] = f.Node
		}
	}
}

// forget forgets pods that are gone, and where they were meant to go if nothing is begun.
func (l *looking) forget(w *world.World, b disrupt.Begun) {
	for k := range l.meant {
		if len(b.Commands) == 0 || w.Pod(k) == nil {
			delete(l.meant, k)
		}
	}
}

// move has the pods of machines moved that cost too much or have drifted. It
// returns how soon to look again although nothing happens.
func (c *Controller) move(ctx context.Context, w *world.World, b disrupt.Begun, planned []string) time.Duration {
	now := c.Now()
	if c.looking.began.IsZero() {
		c.looking.began = now
	}
	c.looking.retries.prune(w)
	c.looking.forget(w, b)
	if due := c.looking.due(); now.Before(due) {
		return due.Sub(now)
	}
	if len(b.Strays) > 0 || c.busy(w) || c.looking.backlog.holds(backlogged(w), now) {
		return every
	}
	c.looking.changed = false
	found, because, again, ok := c.find(ctx, b.Ending(w), slices.Concat(planned, b.Awaited))
	c.looking.last, c.looking.took, c.looking.again = c.Now(), c.Now.Since(now), again
	if !ok {
		return time.Minute
	}
	wait := time.Duration(0)
	for _, m := range found {
		switch {
		case slices.ContainsFunc(m.claims(), func(claim string) bool { return c.looking.retries.waits(claim, now) }):
		case m.reason() != plan.Expired && !quietFor(w, m.claims()):
			c.looking.changed = true // it will be
		default:
			if err := c.begin(ctx, m); err != nil {
				if c.looking.changed = true; ctx.Err() != nil {
					return wait
				}
				if apierrors.IsConflict(err) { // it has just changed
					c.Log.V(1).Info("begin to give nodes back", "nodes", m.nodes(), "reason", m.reason(), "error", err.Error())
					continue
				}
				c.Log.Error(err, "begin to give nodes back", "nodes", m.nodes(), "reason", m.reason())
				c.Metrics.Add(metric.DisruptionQueueFailures, 1, decisionOf(len(m.New) > 0), lower(m.reason()), kindOf(m.reason(), len(m.Back) > 1))
			}
			c.Journal.Add(because)
			c.looking.mean(m)
			wait = settle
			if m.reason() != plan.Underutilized {
				c.looking.last = time.Time{} // there may be another
			}
		}
	}
	return soonest(wait, max(c.looking.due().Sub(c.Now()), pace))
}

// busy reports whether it is better to wait until the cluster has settled.
func (c *Controller) busy(w *world.World) bool {
	now := c.Now()
	switch {
	case Settled(w):
		c.looking.stirred = time.Time{}
	case c.looking.stirred.IsZero():
		c.looking.stirred = now
	}
	return !c.looking.stirred.IsZero() && now.Sub(c.looking.stirred) < restless
}

// move is machines that go together, at least one, and what is bought for their pods.
type move struct {
	Back []plan.Give
	New  []plan.Ask
	To   []plan.Fill // where pods go that need nothing new
	Pods int
	Save int64
}

func (m move) reason() string { return m.Back[0].Reason }

func (m move) claims() []string {
	out := make([]string, len(m.Back))
	for i, g := range m.Back {
		out[i] = g.Claim
	}
	return out
}

func (m move) nodes() []string {
	out := make([]string, len(m.Back))
	for i, g := range m.Back {
		out[i] = g.Node
	}
	return out
}

// moving is how many pods have to move when machines go.
func moving(w *world.World, back []plan.Give) (n int) {
	for _, g := range back {
		if place := w.Place(g.Node); place != nil {
			for _, pod := range place.Pods {
				if pod.Moves() {
					n++
				}
			}
		}
	}
	return n
}

// find looks which machines could go: one that is too old or has drifted, or else all that
// cost too much, and because of which decision. ending is the World as if all that has been begun were ended.
func (c *Controller) find(ctx context.Context, ending *world.World, planned []string) (found []move, because journal.Entry, again int64, ok bool) {
	drift := journal.Entry{Kind: journal.Drift, World: ending, Options: journal.Options{Drift: replace.Options{
		Pack: c.Moving.Pack, Planned: planned, Skip: c.looking.retries.waiting(c.Now()),
	}}}
	ok = c.consider(&drift, plan.Drifted, "", func(e *journal.Entry) {
		var kept []replace.Kept
		e.Plan, kept = replace.Next(ending, e.Options.Drift)
		c.Metrics.Put(metric.DisruptionEligibleNodes, float64(replace.Eligible(ending)), lower(plan.Drifted))
		if len(e.Plan.Back) > 0 {
			found = append(found, move{Back: e.Plan.Back, New: e.Plan.New, Pods: moving(ending, e.Plan.Back)})
		}
		c.tellStaying(ctx, ending, kept)
	})
	if !ok || len(found) > 0 {
		return found, drift, 0, ok
	}
	cost := journal.Entry{Kind: journal.Consolidate, World: ending, Options: journal.Options{Consolidate: consolidate.Options{
		Pack: c.Moving.Pack, Planned: planned, SpotToSpot: c.Moving.SpotToSpot,
	}}}
	ok = c.consider(&cost, plan.Underutilized, "multi", func(e *journal.Entry) {
		p := consolidate.Decide(ending, e.Options.Consolidate)
		e.Plan, again = p.Startable(), p.Again
		eligible := 0
		for _, m := range p.Commands {
			eligible += len(m.Back)
			if m.Why == nil {
				found = append(found, move{Back: m.Back, New: m.New, To: m.Moves, Pods: m.Pods, Save: m.Saving})
			}
		}
		c.Metrics.Put(metric.DisruptionEligibleNodes, float64(eligible), lower(plan.Underutilized))
		c.tellKept(ctx, p)
	})
	return found, cost, again, ok
}

// consider makes a decision, and keeps it if it breaks.
func (c *Controller) consider(e *journal.Entry, reason, kind string, decide func(*journal.Entry)) (ok bool) {
	start := c.Now()
	if broke := panics.Caught(func() { decide(e) }); broke != nil {
		e.Plan, e.Panic = plan.Plan{}, broke.Error()
		c.Journal.Add(*e)
		c.broke(broke, e.Kind, e.World)
		return false
	}
	if reason == "" {
		return true
	}
	c.Metrics.Observe(metric.DisruptionEvaluation, c.Now.Since(start).Seconds(), lower(reason), kind)
	return true
}

// begin marks machines that are to go, and then asks for what their pods need.
// Where that cannot be done as a whole, it is taken back.
func (c *Controller) begin(ctx context.Context, m move) error {
	err := c.teller().Try(Name, func() error { return c.ask(ctx, m) }, "nodes", m.nodes())
	if err != nil {
		for _, g := range m.Back {
			err = errors.Join(err, c.try(ctx, Step{Kind: Unmark, Claim: g.Claim, Node: g.Node}))
		}
		return err
	}
	labels := []string{decisionOf(len(m.New) > 0), lower(m.reason()), kindOf(m.reason(), len(m.Back) > 1)}
	c.Metrics.Add(metric.DisruptionDecisions, 1, labels...)
	c.Metrics.Add(metric.DisruptionDecisionsByPool, 1, append(labels, m.Back[0].Pool.Name)...)
	c.Log.Info("disrupting node(s)", "reason", lower(m.reason()), "decision", labels[0], "disrupted-node-count", len(m.Back), "replacement-node-count", len(m.New),
		"pod-count", m.Pods, "disrupted-nodes", m.nodes(), "savings", plan.Money("", m.Save)+"/h")
	return nil
}

func (c *Controller) ask(ctx context.Context, m move) error {
	for _, g := range m.Back {
		if err := c.mark(ctx, Step{Kind: Mark, Claim: g.Claim, Node: g.Node, Reason: g.Reason}); err != nil {
			return err
		}
	}
	if len(m.New) == 0 {
		return nil
	}
	err := c.Enact.Replace(ctx, m.New, lower(m.reason()), m.claims())
	for _, g := range m.Back {
		if err != nil {
			c.looking.retries.failed(g.Claim, c.Now())
		}
	}
	return err
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
	next, err := loop.Patch(ctx, c.Client, claim, func(claim *v1.NodeClaim) { delete(claim.Annotations, observe.AnnotationReplaces) })
	if err == nil {
		c.Cluster.Wrote(next)
	}
	return changed(err)
}

// takenBack notes that a machine stays whose pods were to move.
func (c *Controller) takenBack(s Step, first bool) {
	c.looking.retries.failed(s.Claim, c.Now())
	c.Log.Info("the node stays after all", "Node", s.Node, "reason", lower(s.Reason), "why", s.Why)
	switch {
	case !first:
	case s.Bought:
		c.Metrics.Add(metric.DisruptionQueueFailures, 1, decisionOf(true), lower(s.Reason), kindOf(s.Reason, s.Many))
	default:
		c.Metrics.Add(metric.DisruptionFailedValidations, 1, kindOf(s.Reason, s.Many))
	}
}
