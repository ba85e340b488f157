package provision

import (
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/panics"
)

// lookEvery is how long after a decision pods that still wait are looked at once
// more, whatever happened. afterFailure is the same when something could not be carried out.
const (
	lookEvery    = time.Minute
	afterFailure = 5 * time.Second

	// a controller that starts looks for catalogues so often, and so long at most.
	catalogueLookEvery = 100 * time.Millisecond
	catalogueTimeout   = 10 * time.Second
)

// Name is what metrics and logs call this controller.
const Name = "provisioner"

// Spec is what this controller touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name: Name,
		Reads: []loop.Resource{
			loop.Of("", "pods"), loop.Of("", "nodes"), loop.Of("", "namespaces"), loop.Of("", "persistentvolumes"), loop.Of("", "persistentvolumeclaims"),
			loop.Of("storage.k8s.io", "storageclasses"), loop.Of("storage.k8s.io", "csinodes"), loop.Of("storage.k8s.io", "csidrivers"), loop.Of("apps", "daemonsets"), loop.Of("batch", "jobs"), loop.Of("", "limitranges"),
			loop.Of("", "services"), loop.Of("", "replicationcontrollers"), loop.Of("apps", "replicasets"), loop.Of("apps", "statefulsets"),
			loop.Of("policy", "poddisruptionbudgets"), loop.Of(v1.Group, "nodepools"), loop.Of(v1.Group, "nodeclaims"), loop.Of(v1.Group, "provisioners"),
		},
		Writes: []loop.Write{loop.To(v1.Group, "nodeclaims", "create"), loop.To("", "events", "create", "patch"), loop.To("", "pods/status", "patch")},
	}
}

// Controller decides what to ask for, and has it asked for.
type Controller struct {
	Cluster *cluster.Cluster
	Enact   *enact.Enactor
	Journal *journal.Journal
	Metrics *metric.Set
	Now     clock.Now
	Log     logr.Logger
	Batch   Batch
	Options provision.Options
	// Verdicts gets every plan.
	Verdicts interface{ Decided(plan.Plan) }
	// Passes is called when a decision begins, and what that returns when it ends; and after every pass, with whether the pass
	// did what it was to do. It may be nil.
	Passes interface {
		Begin(controller, world string) (end func())
		Ended(controller string, took time.Duration, ok bool)
	}

	triggers chan Trigger
	logged   logged
}

// Listen subscribes the controller to changes of the cluster state. It must be called before the cluster's sources start.
func (c *Controller) Listen() {
	c.triggers = make(chan Trigger, 1024)
	c.Cluster.Listen(func(change cluster.Change) {
		t := TriggerOf(change)
		if t == Never {
			return
		}
		select {
		case c.triggers <- t:
		default: // so many wait already that one more makes no difference
		}
	})
}

// NeedLeaderElection keeps all but the leader from asking for anything.
func (c *Controller) NeedLeaderElection() bool { return true }

// Start decides whenever there is reason to, until ctx ends.
func (c *Controller) Start(ctx context.Context) error {
	if !c.Cluster.Await(ctx) {
		return nil
	}
	w := Window{}.Add(c.Now())
	begun := w.First
	timer := time.NewTimer(c.Now.Until(w.Due(c.Batch)))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case t := <-c.triggers:
			if !w.Open() && (t == IfWaits && !c.needed() || t == IfBuffers && !c.buffered()) {
				continue
			}
			w = w.Add(c.Now())
			timer.Reset(c.next(w))
		case <-timer.C:
			if w.Open() && c.Now().Before(w.Due(c.Batch)) { // more is being gathered, and promises are left
				c.teller().Do(Name, func() { c.Enact.Rest(ctx) })
				timer.Reset(c.next(w))
				continue
			}
			if c.Now.Since(begun) < catalogueTimeout && c.blind() {
				timer.Reset(catalogueLookEvery)
				continue
			}
			w = Window{}
			if wait := c.guarded(ctx); wait > 0 {
				timer.Reset(wait)
			}
		}
	}
}

// next is how long nothing is to be done while a decision's window is open: until
// the decision, unless the last one left promises to make meanwhile.
func (c *Controller) next(w Window) time.Duration {
	if c.Enact.Left() {
		return 0
	}
	return c.Now.Until(w.Due(c.Batch))
}

// teller logs and counts what broke here.
func (c *Controller) teller() panics.Teller { return panics.Teller{Log: c.Log, Metrics: c.Metrics} }

// needed reports whether a pod waits. A cluster state that cannot be taken is not known to have none.
func (c *Controller) needed() bool {
	needed := true
	c.teller().Do(Name, func() { needed = Needed(c.Cluster.Recent(time.Second)) })
	return needed
}

// buffered reports whether room is held for pods to come. A cluster state that cannot be taken is not known to have none.
func (c *Controller) buffered() bool {
	buffered := true
	c.teller().Do(Name, func() { buffered = c.Cluster.Buffered() })
	return buffered
}

// blind reports whether nothing is known yet of what is for sale.
func (c *Controller) blind() (blind bool) {
	c.teller().Do(Name, func() { blind = c.Cluster.World().Blind() })
	return blind
}

// guarded is pass, and goes on in a minute if that breaks: what it did until then
// is in the cluster state, and what it did not is decided again.
func (c *Controller) guarded(ctx context.Context) (wait time.Duration) {
	var ok bool
	began := c.Now()
	whole := c.teller().Do(Name, func() { wait, ok = c.pass(ctx) }, "again", "in a minute")
	if c.Passes != nil {
		c.Passes.Ended(Name, c.Now.Since(began), whole && ok)
	}
	if !whole {
		return time.Minute
	}
	return wait
}

// pass makes one decision and has it carried out. It returns when to look again
// although nothing happens, zero for never, and whether all was asked for.
func (c *Controller) pass(ctx context.Context) (again time.Duration, ok bool) {
	w := c.Cluster.World()
	if !Needed(w) {
		c.Metrics.Put(metric.SchedulerUnschedulable, 0, Name)
		c.Metrics.Put(metric.SchedulerIgnoredPods, 0)
		c.Enact.Publish(w, plan.Plan{}, nil)
		c.logged = logged{}
		return 0, true
	}
	start := c.Now()
	c.Metrics.Put(metric.SchedulerQueueDepth, float64(existing(w.Waiting())), Name, "")
	p := c.timed(w)
	c.Metrics.Put(metric.SchedulerQueueDepth, 0, Name, "")
	took := c.Now.Since(start)
	c.Metrics.Observe(metric.SchedulingDuration, took.Seconds(), Name)
	c.Verdicts.Decided(p)
	c.count(w, p)
	c.announce(p)
	made, err := c.Enact.Ask(ctx, p.New, enact.Provisioned)
	c.Enact.Publish(w, p, made)
	wait := c.Enact.Promise(ctx, w, p, took)
	c.say(w, p)
	if err != nil {
		c.Log.Error(err, "ask for capacity")
		return afterFailure, false
	}
	if wait <= 0 {
		wait = lookEvery
	}
	if p.Again > 0 {
		wait = min(wait, max(time.Unix(p.Again, 0).Sub(c.Now()), time.Second))
	}
	return min(wait, lookEvery), true
}

// count writes how many pods a plan refuses: those that are not ours to find a place for, and the others.
func (c *Controller) count(w *world.World, p plan.Plan) {
	gated, refused := p.Unplaced(w)
	c.Metrics.Put(metric.SchedulerIgnoredPods, float64(gated))
	c.Metrics.Put(metric.SchedulerUnschedulable, float64(refused), Name)
}

// existing is how many of the pods exist.
func existing(pods []*world.Pod) int {
	n := 0
	for _, p := range pods {
		if !p.Virtual {
			n++
		}
	}
	return n
}

// timed is decide, counted as a pass under way meanwhile.
func (c *Controller) timed(w *world.World) plan.Plan {
	if c.Passes != nil {
		defer c.Passes.Begin(Name, w.Digest())()
	}
	return c.decide(w)
}

// decide makes the plan, and keeps it with its World. A bug in the search costs
// the search, not the pods: they get the plan that needs none.
func (c *Controller) decide(w *world.World) (p plan.Plan) {
	var broke string
	o := c.Options
	defer func() {
		c.Journal.Add(journal.Entry{Kind: journal.Buy, World: w, Options: journal.Options{Provision: o}, Plan: p, Panic: broke})
	}()
	p, broke = try(w, o)
	if broke == "" {
		return p
	}
	t := c.teller()
	t.Tell(Name, errors.New(broke), "world", w.Digest(), "instead", "each pod by itself is given a place")
	o.ExactOnly = true
	var worse string
	if p, worse = try(w, o); worse != "" {
		t.Tell(Name, errors.New(worse), "world", w.Digest())
		broke += "\n" + worse
	}
	return p
}

func try(w *world.World, o provision.Options) (p plan.Plan, broke string) {
	if err := panics.Caught(func() { p = provision.Decide(w, o) }); err != nil {
		return plan.Plan{}, err.Error()
	}
	return p, ""
}
