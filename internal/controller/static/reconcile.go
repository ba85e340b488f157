// Package static has machines of static pools bought and ended, so that each pool has as many as its replicas say.
//
// What is to be done is decided in engine/static; this carries it out, and publishes on pools what keeps them from their number.
package static

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/static"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/parallel"
)

const (
	// Name is what metrics and logs call this controller.
	Name = "static.provisioning"

	pace     = time.Second      // the least time between two looks
	failed   = 5 * time.Second  // until what could not be written is tried again
	tellsPer = 15 * time.Minute // how often an event says what keeps a pool from its number
)

// Spec is what this controller touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:   Name,
		Reads:  []loop.Resource{loop.Of(v1.Group, "nodepools"), loop.Of(v1.Group, "nodeclaims"), loop.Of("", "nodes"), loop.Of("", "pods")},
		Writes: []loop.Write{loop.To(v1.Group, "nodeclaims", "create", "delete"), loop.To("", "events", "create", "patch")},
	}
}

// Controller keeps static pools at their number.
type Controller struct {
	Client  client.Client
	Cluster *cluster.Cluster
	Enact   *enact.Enactor
	Journal *journal.Journal
	Metrics *metric.Set
	Events  *loop.Events
	Now     clock.Now
	Log     logr.Logger
	Options static.Options

	passes *loop.Passes
	logged map[world.PoolID]lack // what keeps pools from their number, as it was logged last
}

// Listen subscribes the controller to changes of the cluster state. It must be called before the cluster's sources start.
func (c *Controller) Listen() {
	c.passes = loop.NewPasses(loop.Passes{Name: Name, Pace: pace, Now: c.Now, Panics: c.teller()})
	c.logged = map[world.PoolID]lack{}
	c.Cluster.Listen(func(change cluster.Change) {
		if matters(change.Kind) {
			c.passes.Wake()
		}
	})
}

// NeedLeaderElection keeps all but the leader from buying and ending anything.
func (c *Controller) NeedLeaderElection() bool { return true }

// Start looks whenever something has changed or is due, until ctx ends.
func (c *Controller) Start(ctx context.Context) error {
	if !c.Cluster.Await(ctx) {
		return nil
	}
	c.passes.Run(ctx, 0, c.pass)
	return nil
}

func (c *Controller) teller() panics.Teller { return panics.Teller{Log: c.Log, Metrics: c.Metrics} }

// pass decides and does what is due. It returns when to look again although nothing happens.
func (c *Controller) pass(ctx context.Context) time.Duration {
	// What is replaced takes of the same limits, so that nothing is decided here while that begins.
	c.Enact.Static.Lock()
	defer c.Enact.Static.Unlock()
	w := c.Cluster.World()
	p := c.decide(w)
	c.publish(ctx, p)
	if err := c.carry(ctx, p); err != nil {
		if ctx.Err() == nil {
			c.Log.Error(err, "bring static pools to their number of nodes")
		}
		return failed
	}
	return next(p, c.Now())
}

// decide makes the plan. One that does anything is kept, and so is one that breaks, or that lacks something else
// than the last.
func (c *Controller) decide(w *world.World) plan.Plan {
	e := journal.Entry{Kind: journal.Static, World: w, Options: journal.Options{Static: c.Options}}
	broke := panics.Caught(func() { e.Plan = static.Decide(w, c.Options) })
	if broke != nil {
		e.Plan, e.Panic = plan.Plan{}, broke.Error()
		c.teller().Tell(Name, broke, "decision", journal.Static, "world", w.Digest())
	}
	if e.Acts() || len(news(c.logged, e.Plan)) > 0 {
		c.Journal.Add(e)
	}
	return e.Plan
}

// publish says in events what keeps pools from their number, unless their own conditions say it.
func (c *Controller) publish(ctx context.Context, p plan.Plan) {
	fresh := news(c.logged, p)
	c.logged = lacks(p)
	for _, s := range p.Static {
		if s.Why == nil || s.Why.Code == reason.NotReady {
			continue
		}
		why := s.Why.Unnamed()
		if slices.Contains(fresh, s.Pool) {
			c.Log.Info("the pool cannot have all its replicas", "NodePool", s.Pool.Name, "missing", s.Missing, "why", why.Said())
		}
		o := &v1.NodePool{}
		if c.Client.Get(ctx, client.ObjectKey{Name: s.Pool.Name}, o) == nil {
			c.Events.WarningEvery(tellsPer, o, "ReplicasMissing", fmt.Sprintf("%s of %d cannot be asked for now: %s", amount.Count(s.Missing, "replica"), s.Replicas, why.Said()))
		}
	}
}

// carry asks for what is to be bought, and ends what is to go.
func (c *Controller) carry(ctx context.Context, p plan.Plan) error {
	_, asked := c.Enact.Ask(ctx, p.New, enact.Provisioned)
	return errors.Join(asked, parallel.Each(parallel.Writes, p.Back(), func(_ int, g plan.Give) error {
		claim := &v1.NodeClaim{}
		if err := c.Client.Get(ctx, client.ObjectKey{Name: g.Claim}, claim); err != nil {
			return client.IgnoreNotFound(err)
		}
		return c.Enact.Release(ctx, claim, enact.Released)
	}))
}
