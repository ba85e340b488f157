package disrupt

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/backoff"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/parallel"
)

const (
	// Name is what metrics and logs call this controller.
	Name = "disruption"
	// pace is the least time between two looks.
	pace = time.Second
	// failed is how long after a step that failed it is tried again.
	failed = 5 * time.Second
)

// Spec is what this controller touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name: Name,
		Reads: []loop.Resource{
			loop.Of("", "pods"), loop.Of("", "nodes"), loop.Of("policy", "poddisruptionbudgets"), loop.Of(v1.Group, "nodepools"), loop.Of(v1.Group, "nodeclaims"),
			loop.Of(v1.Group, "provisioners"),
		},
		Writes: []loop.Write{
			loop.To("", "nodes", "patch"), loop.To(v1.Group, "nodeclaims", "create", "patch", "delete"), loop.To(v1.Group, "nodeclaims/status", "patch"),
			loop.To("", "events", "create", "patch"),
		},
	}
}

// Controller gives machines back.
type Controller struct {
	Client  client.Client
	Cluster *cluster.Cluster
	Enact   *enact.Enactor
	Journal *journal.Journal
	Metrics *metric.Set
	Events  *loop.Events
	Now     clock.Now
	Log     logr.Logger
	Moving  Moving
	Decide  func(*world.World, disrupt.Options) plan.Plan // nil: disrupt.Decide
	// Passes is called when a decision begins, and what that returns when it ends; and after every pass, with whether the pass
	// did what it was to do. It may be nil.
	Passes interface {
		Begin(controller, world string) (end func())
		Ended(controller string, took time.Duration, ok bool)
	}

	passes  *loop.Passes
	marked  map[string]time.Time
	misread unreadable
	changed atomic.Bool // something has changed since the last pass
	looking looking
}

// Listen subscribes the controller to changes of the cluster state. It must be called before the cluster's sources start.
func (c *Controller) Listen() {
	c.passes = loop.NewPasses(loop.Passes{Name: Name, Pace: pace, Now: c.Now, Panics: c.teller()})
	c.marked = map[string]time.Time{}
	c.looking.retries = backoff.Keyed[string]{First: firstRetry, Last: lastRetry}
	c.Cluster.Listen(func(change cluster.Change) {
		c.misread.heard(change)
		c.changed.Store(true)
		if change.Kind == cluster.Pod && change.Is != nil && change.Is.Node == "" && (change.Was == nil || change.Was.Node == "") {
			return // a pod that runs nowhere makes no machine empty
		}
		c.passes.Wake()
	})
}

// NeedLeaderElection keeps all but the leader from giving anything back.
func (c *Controller) NeedLeaderElection() bool { return true }

// Start looks whenever something has changed or is due, until ctx ends.
func (c *Controller) Start(ctx context.Context) error {
	if !c.Cluster.Await(ctx) {
		return nil
	}
	c.passes.Run(ctx, pace, c.counted)
	return nil
}

// counted is pass. It reports how long that took and whether it broke.
func (c *Controller) counted(ctx context.Context) (wait time.Duration) {
	began, ok := c.Now(), false
	if c.Passes != nil {
		defer func() { c.Passes.Ended(Name, c.Now.Since(began), ok) }()
	}
	wait, ok = c.pass(ctx)
	return wait
}

// teller logs and counts what broke here.
func (c *Controller) teller() panics.Teller { return panics.Teller{Log: c.Log, Metrics: c.Metrics} }

// pass decides and takes the steps that are due. It returns when to look again
// although nothing happens, and whether all could be decided.
func (c *Controller) pass(ctx context.Context) (again time.Duration, ok bool) {
	if c.changed.Swap(false) {
		c.looking.changed = true
	}
	w := c.Cluster.World().Seated()
	planned, known := c.Enact.Targets.Planned(w)
	if !known {
		return pace, true // it is not known yet what is needed
	}
	now := c.Now()
	if c.looking.began.IsZero() {
		c.looking.began = now
	}
	c.note(w, now)
	c.looking.forget(w)
	o := c.options(planned, now)
	o.Consolidate.JustMoved = c.looking.justMoved(w, now)
	o.Busy = c.busy(w)
	due, moves := c.due(now, o.Busy)
	everything := moves && !now.Before(due)
	held := everything && c.looking.backlog.holds(backlogged(w), now)
	if everything = everything && !held; !everything {
		o.Only = quick()
	}
	p, ok := c.decide(w, o)
	if everything {
		c.looking.changed = false
		c.looking.last, c.looking.took, c.looking.again = c.Now(), c.Now.Since(now), p.Again
	}
	c.publish(ctx, w, p)
	c.weigh(w, p)
	wait := c.carry(ctx, w, p)
	if c.beginAll(ctx, p) {
		wait = soonest(wait, settle)
	}
	switch {
	case !ok:
		wait = soonest(wait, time.Minute)
	case moves && !held:
		wait = soonest(wait, max(c.looking.due().Sub(c.Now()), pace))
	case !c.Moving.Off:
		wait = soonest(wait, lookEvery)
	}
	if p.Again > 0 {
		wait = soonest(wait, max(time.Unix(p.Again, 0).Sub(now), pace))
	}
	return wait, ok
}

// quick is what is decided at every look. The rest takes longer, and is decided when it is due.
func quick() []disrupt.Part { return []disrupt.Part{disrupt.Judging, disrupt.Idling} }

// options are what this process knows beside the World. All of it can be
// forgotten: what has only been forgotten is waited for, or tried, once more.
func (c *Controller) options(planned []string, now time.Time) disrupt.Options {
	o := disrupt.Options{
		Pack: c.Moving.Pack, Planned: planned, Stay: c.Moving.Off, Skip: slices.Sorted(slices.Values(c.looking.retries.Waiting(now))),
		Consolidate: c.Moving.Options(),
	}
	for node, since := range c.marked {
		if o.Marked == nil {
			o.Marked = map[string]int64{}
		}
		o.Marked[node] = now.Sub(since).Milliseconds()
	}
	return o
}

// decide makes the plan, and keeps it if it does anything or is about everything. What breaks a part of it costs
// that part: what takes least to decide is decided without the rest. It is not ok if anything broke.
func (c *Controller) decide(w *world.World, o disrupt.Options) (p plan.Plan, ok bool) {
	decide := c.Decide
	if decide == nil {
		decide = disrupt.Decide
	}
	tries := [][]disrupt.Part{o.Only, quick(), {disrupt.Idling}}
	if len(o.Only) > 0 {
		tries = tries[1:]
	}
	if c.Passes != nil {
		defer c.Passes.Begin(Name, w.Digest())()
	}
	ok = true
	for _, parts := range tries {
		o.Only, o.Done = parts, c.measure(w)
		broke := panics.Caught(func() { p = decide(w, o) })
		o.Done = nil
		e := journal.Entry{Kind: journal.GiveBack, World: w, Options: journal.Options{Disrupt: o}}
		if broke == nil {
			if e.Plan = p; p.Acts() || len(parts) == 0 {
				c.Journal.Add(e)
			}
			return p, ok
		}
		e.Panic, ok = broke.Error(), false
		c.Journal.Add(e)
		c.teller().Tell(Name, broke, "decision", journal.GiveBack, "world", w.Digest())
	}
	return plan.Plan{}, false
}

// measure counts how long the parts of a decision take.
func (c *Controller) measure(w *world.World) func(disrupt.Part) {
	last := c.Now()
	return func(part disrupt.Part) {
		took := c.Now.Since(last).Seconds()
		last = c.Now()
		switch part {
		case disrupt.Idling:
			c.Metrics.Observe(metric.DisruptionEvaluation, took, "empty", "")
			c.Metrics.Put(metric.DisruptionEligibleNodes, float64(eligible(w)), "empty")
		case disrupt.Replacing:
			c.Metrics.Observe(metric.DisruptionEvaluation, took, lower(plan.Drifted), "")
			c.Metrics.Put(metric.DisruptionEligibleNodes, float64(disrupt.Eligible(w)), lower(plan.Drifted))
		case disrupt.Consolidating:
			c.Metrics.Observe(metric.DisruptionEvaluation, took, lower(plan.Underutilized), "multi")
		case disrupt.Judging:
		}
	}
}

// carry takes the steps that are due, and returns when the next are.
func (c *Controller) carry(ctx context.Context, w *world.World, p plan.Plan) time.Duration {
	steps, wait := Steps(w, p)
	for _, s := range steps {
		if s.Kind != Await {
			wait = soonest(wait, settle)
		}
		if s.Kind == Unmark && s.Begun {
			c.takenBack(s)
		}
	}
	if err := parallel.Each(parallel.Writes, steps, func(_ int, s Step) error { return c.try(ctx, s) }); err != nil {
		wait = soonest(wait, failed)
	}
	return wait
}

// note keeps since when each node is known to be marked.
func (c *Controller) note(w *world.World, now time.Time) {
	still := map[string]time.Time{}
	for _, p := range w.Places() {
		if !begun.Marked(p) {
			continue
		}
		since, ok := c.marked[p.Node.Name]
		if !ok {
			since = now
		}
		still[p.Node.Name] = since
	}
	c.marked = still
}

// try takes one step, and says if it cannot. One that breaks has failed, and the others go on.
func (c *Controller) try(ctx context.Context, s Step) error {
	err := c.teller().Try(Name, func() error { return c.take(ctx, s) }, "step", s.Kind, "NodeClaim", s.Claim)
	if err != nil && ctx.Err() == nil {
		c.Log.Error(err, "give back", "step", s.Kind, "NodeClaim", s.Claim)
		c.Metrics.Add(metric.DisruptionQueueFailures, 1, "delete", lower(s.Reason), "")
	}
	return err
}

// take takes one step. What has changed meanwhile is decided again at the next look.
func (c *Controller) take(ctx context.Context, s Step) error {
	switch s.Kind {
	case Mark:
		return changed(c.mark(ctx, s, nil))
	case Unmark:
		return changed(c.unmark(ctx, s))
	}
	claim := &v1.NodeClaim{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: s.Claim}, claim); err != nil {
		return client.IgnoreNotFound(err)
	}
	if s.Kind != End {
		return c.bought(ctx, s, claim)
	}
	if s.Reason != plan.Expired { // it was marked: that may have met a newer claim, or a controller may have died over it
		if err := c.say(ctx, claim, s.Reason); err != nil {
			return changed(err)
		}
	}
	c.Events.Normal(claim, "DisruptionTerminating", "Disrupting NodeClaim: %s", s.Reason)
	node := &corev1.Node{}
	if s.Node != "" && c.Client.Get(ctx, client.ObjectKey{Name: s.Node}, node) == nil {
		c.Events.Normal(node, "DisruptionTerminating", "Disrupting Node: %s", s.Reason)
	}
	if !s.Begun { // others were counted when they were begun
		c.Metrics.Add(metric.DisruptionDecisions, 1, "delete", lower(s.Reason), "")
		c.Metrics.Add(metric.DisruptionDecisionsByPool, 1, "delete", lower(s.Reason), "", loop.PoolName(claim.Labels))
	}
	if s.Reason == plan.Empty {
		c.Log.Info(fmt.Sprintf("Triggering termination after %s for empty node", c.patience(claim)), "node", s.Node)
	}
	return c.Enact.Release(ctx, claim, lower(s.Reason))
}

// mark keeps pods away from a node, and says why on its claim, and on the node where its pods are to go.
func (c *Controller) mark(ctx context.Context, s Step, moves []plan.Fill) error {
	claim, node := &v1.NodeClaim{}, &corev1.Node{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: s.Claim}, claim); err != nil {
		return err
	}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: s.Node}, node); err != nil {
		return err
	}
	if err := c.Enact.Mark(ctx, node, movesFrom(c.Cluster.Recent(pace).Place(s.Node), moves)); err != nil {
		return err
	}
	return c.say(ctx, claim, s.Reason)
}

// movesFrom are those of the moves that are of pods of a machine.
func movesFrom(from *world.Place, moves []plan.Fill) (out []world.Move) {
	for _, f := range moves {
		m := world.Move{To: f.Node}
		for _, k := range f.Pods {
			if from != nil && slices.ContainsFunc(from.Pods, func(p *world.Pod) bool { return p.Key == k }) {
				m.Pods = append(m.Pods, k)
			}
		}
		if len(m.Pods) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// unmark takes both back: first what is meant, then what was done for it.
func (c *Controller) unmark(ctx context.Context, s Step) error {
	claim, node := &v1.NodeClaim{}, &corev1.Node{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: s.Claim}, claim); err != nil {
		return err
	}
	if err := c.say(ctx, claim, ""); err != nil {
		return err
	}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: s.Node}, node); err != nil {
		return err
	}
	if s.Reason == "" {
		c.Metrics.Add(metric.DisruptionFailedValidations, 1, "")
	}
	return c.Enact.Untaint(ctx, node)
}

// changed passes over an object that has changed meanwhile or is gone: the next
// look decides again.
func changed(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return client.IgnoreNotFound(err)
}

// patience is how long the pool of a claim lets an empty node stay.
func (c *Controller) patience(claim *v1.NodeClaim) time.Duration {
	pool := c.Cluster.Recent(pace).Pool(observe.PoolOf(claim.Labels))
	if pool == nil || pool.Disruption.EmptyAfter == nil {
		return 0
	}
	return time.Duration(*pool.Disruption.EmptyAfter) * time.Second
}

// say writes to the claim why its node goes; without a reason, that it does not.
func (c *Controller) say(ctx context.Context, claim *v1.NodeClaim, reason string) error {
	next, err := loop.PatchStatus(ctx, c.Client, claim, func(claim *v1.NodeClaim) {
		if reason != "" {
			claim.Conditions().True(v1.ConditionDisruptionReason, reason, reason, c.Now())
		} else {
			claim.Conditions().Clear(v1.ConditionDisruptionReason, c.Now())
		}
	})
	if err == nil && next.ResourceVersion != claim.ResourceVersion {
		c.Cluster.Wrote(next)
	}
	return err
}
