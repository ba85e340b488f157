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
	"github.com/tenon-sh/tenon/engine/disrupt/replace"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
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
	Judge   func(*world.World, disrupt.Begun, replace.Options) []replace.Standing // nil: replace.Judge

	wake    chan struct{}
	marked  map[string]time.Time
	misread misread
	stirred atomic.Bool // something has changed since the last pass
	looking looking
}

// Listen has the controller told of changes. It must be called before the cluster's sources start.
func (c *Controller) Listen() {
	c.wake = make(chan struct{}, 1)
	c.marked = map[string]time.Time{}
	c.Cluster.Listen(func(change cluster.Change) {
		c.misread.heard(change)
		c.stirred.Store(true)
		if change.Kind == cluster.Pod && change.Is != nil && change.Is.Node == "" && (change.Was == nil || change.Was.Node == "") {
			return // a pod that runs nowhere makes no machine empty
		}
		select {
		case c.wake <- struct{}{}:
		default:
		}
	})
}

// NeedLeaderElection keeps all but the leader from giving anything back.
func (c *Controller) NeedLeaderElection() bool { return true }

// Start looks whenever something has changed or is due, until ctx ends.
func (c *Controller) Start(ctx context.Context) error {
	if !c.Cluster.Await(ctx) {
		return nil
	}
	timer := time.NewTimer(pace)
	defer timer.Stop()
	for last := c.Now(); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-c.wake:
			timer.Reset(max(pace-c.Now.Since(last), 0))
			continue
		case <-timer.C:
		}
		last = c.Now()
		if wait := c.guarded(ctx); wait > 0 {
			timer.Reset(max(wait, pace))
		}
	}
}

// guarded is pass, and goes on in a minute if that breaks: what users write
// reaches all of it, and other controllers live in this process.
func (c *Controller) guarded(ctx context.Context) (wait time.Duration) {
	if !c.teller().Do(Name, func() { wait = c.pass(ctx) }, "again", "in a minute") {
		return time.Minute
	}
	return wait
}

// teller tells of what broke here.
func (c *Controller) teller() panics.Teller { return panics.Teller{Log: c.Log, Metrics: c.Metrics} }

// pass decides and takes the steps that are due. It returns when to look again
// although nothing happens; zero for never.
func (c *Controller) pass(ctx context.Context) time.Duration {
	w := c.Cluster.World().Seated()
	planned, known := c.Enact.Targets.Planned(w)
	if !known {
		return pace // nobody knows yet what is needed
	}
	begun := disrupt.BegunIn(w)
	p, ok := c.decide(begun.Ending(w), slices.Concat(planned, begun.Awaited))
	if !ok {
		return time.Minute
	}
	now := c.Now()
	c.note(w, now)
	c.tell(ctx, w)
	steps, wait := Next(w, p, c.marked, now)
	more, later := c.carry(w, begun, planned, now)
	steps, wait = append(steps, more...), soonest(wait, later)
	if slices.ContainsFunc(steps, func(s Step) bool { return s.Kind != Await }) {
		wait = soonest(wait, settle)
	}
	if err := parallel.Each(parallel.Writes, steps, func(_ int, s Step) error { return c.try(ctx, s) }); err != nil {
		wait = soonest(wait, failed)
	}
	if c.stirred.Swap(false) {
		c.looking.changed = true
	}
	if !c.Moving.Off {
		wait = soonest(wait, c.move(ctx, w, begun, planned))
	}
	if p.Again > 0 {
		wait = soonest(wait, max(time.Unix(p.Again, 0).Sub(now), pace))
	}
	return wait
}

// carry returns the steps that are due for commands that have been begun. When
// no pods are to be moved they are taken back.
func (c *Controller) carry(w *world.World, b disrupt.Begun, planned []string, now time.Time) ([]Step, time.Duration) {
	var standings []replace.Standing
	judged := true
	if c.Moving.Off {
		standings = slices.Repeat([]replace.Standing{{Why: &reason.Why{Code: reason.Policy, Detail: "moving pods is switched off"}}}, len(b.Commands))
	} else {
		o := replace.Options{Pack: c.Moving.Pack, Planned: planned, Busy: c.busy(w), Meant: c.looking.meant}
		judged = c.consider(&journal.Entry{Kind: journal.Judge, World: w, Options: journal.Options{Drift: o}}, "", "", func(*journal.Entry) { standings = c.judge(w, b, o) })
	}
	if !judged {
		return nil, time.Minute // the commands are left as they are: they live in the objects
	}
	steps, wait := Carry(b, standings, planned, c.marked, now)
	first := true
	for _, s := range steps {
		if s.Kind == Unmark {
			c.takenBack(s, first)
			first = false
		}
	}
	return steps, wait
}

// judge says how commands stand.
func (c *Controller) judge(w *world.World, b disrupt.Begun, o replace.Options) []replace.Standing {
	if c.Judge != nil {
		return c.Judge(w, b, o)
	}
	return replace.Judge(w, b, o)
}

// note keeps since when each node is known to be marked.
func (c *Controller) note(w *world.World, now time.Time) {
	still := map[string]time.Time{}
	for _, p := range w.Places() {
		if !isMarked(p) {
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

// decide makes the plan, and keeps it if it does anything.
func (c *Controller) decide(w *world.World, planned []string) (p plan.Plan, ok bool) {
	o := disrupt.Options{Planned: planned, BuyFirst: !c.Moving.Off}
	start := c.Now()
	if broke := panics.Caught(func() { p = disrupt.Decide(w, o) }); broke != nil {
		c.Journal.Add(journal.Entry{Kind: journal.GiveBack, World: w, Options: journal.Options{Disrupt: o}, Panic: broke.Error()})
		c.broke(broke, journal.GiveBack, w)
		return plan.Plan{}, false
	}
	c.Metrics.Observe(metric.DisruptionEvaluation, c.Now.Since(start).Seconds(), "empty", "")
	c.Metrics.Put(metric.DisruptionEligibleNodes, float64(eligible(w)), "empty")
	if len(p.Back) > 0 {
		c.Journal.Add(journal.Entry{Kind: journal.GiveBack, World: w, Options: journal.Options{Disrupt: o}, Plan: p})
	}
	return p, true
}

// broke tells of a decision that broke.
func (c *Controller) broke(broke error, kind string, w *world.World) {
	c.teller().Tell(Name, broke, "decision", kind, "world", w.Digest())
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

// take takes one step. What has changed meanwhile is decided anew at the next look.
func (c *Controller) take(ctx context.Context, s Step) error {
	switch s.Kind {
	case Mark:
		return changed(c.mark(ctx, s))
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

// mark keeps pods away from a node, and says why on its claim.
func (c *Controller) mark(ctx context.Context, s Step) error {
	claim, node := &v1.NodeClaim{}, &corev1.Node{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: s.Claim}, claim); err != nil {
		return err
	}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: s.Node}, node); err != nil {
		return err
	}
	if _, err := c.Enact.Taint(ctx, node); err != nil {
		return err
	}
	return c.say(ctx, claim, s.Reason)
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
// look decides anew.
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
