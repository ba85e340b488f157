// Package shadow decides as the controllers do, beside the controller in charge of the cluster, and only logs what they would do.
//
// It says in log, journal, pages and metrics what would be bought and given
// back, what was bought instead, and what the same pods would cost if all of
// all pods ran on new nodes. It holds nothing that could act.
package shadow

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/explain"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/wording"
)

const (
	// decideAfter is how long after a pod began to wait it is decided about: before
	// the controller in charge has bought for it.
	decideAfter = 500 * time.Millisecond
	// later is how long after any other change a decision is made.
	later = 5 * time.Second
	// idle is how long after a decision the next is made although nothing happens.
	idle = time.Minute
	// catalogueLookEvery is how long until the next look while it is not known what pools may
	// buy, and blindFor how long that is waited for before decisions are made without.
	catalogueLookEvery = 500 * time.Millisecond
	blindFor           = 30 * time.Second
	// movesEvery is how long after a decision about moving pods the next is made at the earliest, and movesRest how
	// many times as long as it took.
	movesEvery = 10 * time.Second
	movesRest  = 20
	// totalEvery is how long after a look at what all nodes would cost the next is
	// taken although nothing was bought.
	totalEvery = 10 * time.Minute
)

// Spec is what this controller touches: it only reads.
func Spec() loop.Spec {
	return loop.Spec{
		Name: "shadow",
		Reads: []loop.Resource{
			loop.Of("", "pods"), loop.Of("", "nodes"), loop.Of("", "namespaces"), loop.Of("", "persistentvolumes"), loop.Of("", "persistentvolumeclaims"),
			loop.Of("storage.k8s.io", "storageclasses"), loop.Of("storage.k8s.io", "csinodes"), loop.Of("storage.k8s.io", "csidrivers"), loop.Of("apps", "daemonsets"), loop.Of("batch", "jobs"), loop.Of("", "limitranges"),
			loop.Of("", "services"), loop.Of("", "replicationcontrollers"), loop.Of("apps", "replicasets"), loop.Of("apps", "statefulsets"),
			loop.Of("policy", "poddisruptionbudgets"), loop.Of(v1.Group, "nodepools"), loop.Of(v1.Group, "nodeclaims"), loop.Of(v1.Group, "nodeoverlays"), loop.Of(v1.Group, "provisioners"),
		},
	}
}

// Controller decides and logs.
type Controller struct {
	Cluster *cluster.Cluster
	Journal *journal.Journal
	Metrics *metric.Set
	Now     clock.Now
	Log     logr.Logger
	Options provision.Options
	Moves   consolidate.Options // by which pods would be moved
	Stay    bool                // none would be

	soon    chan struct{}   // a pod began to wait
	later   chan struct{}   // anything else has changed
	blind   time.Time       // since when it is not known what a pool may buy; zero: it is known
	warned  bool            // that was logged
	said    map[string]bool // what was logged and still holds
	contest contest
	totaled time.Time // when all nodes were last looked at
	grown   bool      // something was bought since
	looked  time.Time // when it was last decided whose pods would be moved
	took    time.Duration
}

// Listen subscribes the controller to changes of the cluster state. It must be called before the cluster's sources start.
func (c *Controller) Listen() {
	c.soon, c.later = make(chan struct{}, 1), make(chan struct{}, 1)
	c.Cluster.Listen(func(change cluster.Change) {
		wake := c.later
		if change.Kind == cluster.Pod && change.Is != nil && change.Is.Waiting && (change.Was == nil || !change.Was.Waiting) {
			wake = c.soon
		}
		select {
		case wake <- struct{}{}:
		default: // it will be woken as soon anyway
		}
	})
}

// Start decides whenever there is reason to, until ctx ends.
func (c *Controller) Start(ctx context.Context) error {
	if !c.Cluster.Await(ctx) {
		return nil
	}
	c.Log.Info("shadow mode: deciding and telling, and changing nothing")
	due := c.Now().Add(decideAfter)
	timer := time.NewTimer(decideAfter)
	defer timer.Stop()
	sooner := func(wait time.Duration) {
		if at := c.Now().Add(wait); at.Before(due) {
			due = at
			timer.Reset(wait)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.soon:
			sooner(decideAfter)
		case <-c.later:
			sooner(later)
		case <-timer.C:
			wait := time.Minute
			panics.Teller{Log: c.Log, Metrics: c.Metrics}.Do("shadow", func() { wait = c.pass() })
			due = c.Now().Add(wait)
			timer.Reset(wait)
		}
	}
}

// pass makes both decisions and logs them. It returns when to look again
// although nothing happens.
func (c *Controller) pass() time.Duration {
	w := c.Cluster.World()
	c.Metrics.Put(metric.ClusterStateNodes, float64(len(w.Places())))
	if c.waits(w) {
		return catalogueLookEvery
	}
	buy, ok := c.decide(journal.Entry{Kind: journal.Buy, World: w, Options: journal.Options{Provision: c.Options}})
	if !ok {
		return idle
	}
	o := disrupt.Options{Pack: c.Options, Planned: explain.Targets(buy), Only: []disrupt.Part{disrupt.Idling}, AsIs: true}
	moves := !w.Blind() && c.Now.Since(c.looked) >= max(movesEvery, movesRest*c.took)
	if moves { // commands that have begun are those of the controller in charge, and are not judged
		o.Only, o.AsIs = append(o.Only, disrupt.Replacing, disrupt.Consolidating), false
		o.Stay, o.Busy, o.Consolidate = c.Stay, len(buy.New) > 0, c.Moves
	}
	began := c.Now()
	back, ok := c.decide(journal.Entry{Kind: journal.GiveBack, World: w, Options: journal.Options{Disrupt: o}})
	if !ok {
		return idle
	}
	if moves {
		c.looked, c.took = c.Now(), c.Now.Since(began)
	}
	c.Cluster.Plan(places(buy))
	c.report(w, buy, back, moves)
	c.contest.enter(w, buy)
	if o, settled := c.contest.settle(w); settled {
		c.Log.Info("pods run that Tenon would have bought for", "pods", o.Pods,
			"tenon-nodes", o.Ours, "tenon-price", o.Cost.PerHour(""), "bought-nodes", o.Theirs, "bought-price", o.TheyPay.PerHour(""))
		c.grown = true
	}
	if since := c.Now.Since(c.totaled); !w.Blind() && (since >= totalEvery || c.grown && since >= idle) {
		c.totaled, c.grown = c.Now(), false
		c.total(w)
	}
	if back.Again == 0 {
		return idle
	}
	return min(max(time.Unix(back.Again, 0).Sub(c.Now()), decideAfter), idle)
}

// waits reports whether it is too early to decide: it is not known yet what some
// pool may buy, and has not been for long.
func (c *Controller) waits(w *world.World) bool {
	if !w.Blind() {
		if c.warned {
			c.grown = true // what was logged before was made without some catalogue
		}
		c.blind, c.warned = time.Time{}, false
		return false
	}
	if c.blind.IsZero() {
		c.blind = c.Now()
	}
	if c.Now.Since(c.blind) < blindFor {
		return true
	}
	if !c.warned {
		c.warned = true
		c.Log.Info("it is still not known what some pools may buy: nothing is planned on them, and what new nodes for all pods would cost is not reported; see the errors of their node class",
			"seconds", int(blindFor.Seconds()))
	}
	return false
}

// places is where a plan sends pods that need no new node. The next plan leaves
// them there, as it does in the controller that acts.
func places(p plan.Plan) map[world.Key]string {
	out := map[world.Key]string{}
	for _, f := range p.Filled {
		for _, k := range f.Pods {
			out[k] = cmp.Or(f.Node, f.Claim)
		}
	}
	return out
}

// decide makes the decision of an entry and keeps it if it does anything.
func (c *Controller) decide(e journal.Entry) (p plan.Plan, ok bool) {
	e.Shadow = true
	if broke := panics.Caught(func() { c.make(&e) }); broke != nil {
		e.Plan, e.Panic = plan.Plan{}, broke.Error()
		c.Journal.Add(e)
		panics.Teller{Log: c.Log, Metrics: c.Metrics}.Tell("shadow", broke, "decision", e.Kind, "world", e.World.Digest())
		return plan.Plan{}, false
	}
	if e.Plan.Waiting+len(e.Plan.Back()) > 0 || slices.Contains(e.Options.Disrupt.Only, disrupt.Consolidating) {
		c.Journal.Add(e)
	}
	return e.Plan, true
}

// make makes the decision of an entry.
func (c *Controller) make(e *journal.Entry) {
	if e.Kind == journal.Buy {
		start := c.Now()
		e.Plan = provision.Decide(e.World, e.Options.Provision)
		c.Metrics.Observe(metric.SchedulingDuration, c.Now.Since(start).Seconds(), "provisioner")
		gated, refused := e.Plan.Unplaced(e.World)
		c.Metrics.Put(metric.SchedulerIgnoredPods, float64(gated))
		c.Metrics.Put(metric.SchedulerUnschedulable, float64(refused), "provisioner")
	} else {
		e.Plan = disrupt.Decide(e.World, e.Options.Disrupt)
	}
}

// moving is how the keys of what is logged about moves begin.
const moving = "move "

// report logs what has changed since the last decision, and of moves what has changed since the last decision about moves.
func (c *Controller) report(w *world.World, buy, back plan.Plan, moves bool) {
	before := c.said
	c.said = map[string]bool{}
	for key := range before {
		if !moves && strings.HasPrefix(key, moving) {
			c.said[key] = true
		}
	}
	once := func(key string, log func()) {
		c.said[key] = true
		if !before[key] {
			log()
		}
	}
	for _, a := range buy.New {
		once(fmt.Sprintf("buy %s %s %s %s %v", a.Pool, a.Shape, a.Zone, a.CapacityType, a.Pods), func() {
			c.Log.Info("would buy a node", wording.Kind(a.Pool), a.Pool.Name, "instance-type", a.Shape, "zone", a.Zone,
				"capacity-type", a.CapacityType, "price", a.Price.PerHour(""), "pods", len(a.Pods))
		})
	}
	for _, r := range buy.Refused {
		once("refuse "+r.UID+r.Pod.String(), func() {
			c.Log.Info("would buy nothing for a pod", "pod", r.Pod.String(), "why", wording.Refusal(w, r))
		})
	}
	for _, x := range back.Commands {
		switch {
		case x.Verdict != plan.Begin && x.Verdict != plan.CarryOn:
		case !x.Idle():
			once(moving+x.Reason+strings.Join(x.Claims(), " "), func() {
				c.Log.Info("would give nodes back and move their pods", "nodes", strings.Join(x.Nodes(), ","), "reason", x.Reason, "pods", x.Pods, "new-nodes", len(x.New), "saving", x.Saving.PerHour(""))
			})
		default:
			for _, g := range x.Back {
				once("give back "+g.Claim+g.Reason, func() {
					c.Log.Info("would give a node back", "Node", g.Node, "NodeClaim", g.Claim, "reason", g.Reason, "price", g.Price.PerHour(""))
				})
			}
		}
	}
}

// total logs what the pools' nodes cost, and what would be bought for their
// pods and those that wait if none of them were there.
func (c *Controller) total(w *world.World) {
	nodes, cost := 0, money.Micro(0)
	for _, p := range w.Places() {
		if p.Pool().Name != "" {
			nodes++
			cost += plan.PriceOf(w, p)
		}
	}
	empty, err := suppose.Anew(w)
	if err != nil {
		c.Log.Error(err, "suppose that no node of a pool is there")
		return
	}
	p := provision.Decide(empty, c.Options)
	c.Log.Info("what the nodes of all pools cost, and what new nodes for all pods would", "nodes", nodes, "price", cost.PerHour(""),
		"anew-nodes", len(p.New), "anew-price", p.Cost.PerHour(""), "anew-refused-pods", len(p.Refused))
	for side, v := range map[string]struct {
		nodes int
		cost  money.Micro
	}{"cluster": {nodes, cost}, "anew": {len(p.New), p.Cost}} {
		c.Metrics.Put(metric.ShadowNodes, float64(v.nodes), side)
		c.Metrics.Put(metric.ShadowPrice, v.cost.Units(), side)
	}
}
