package interrupt

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/panics"
)

// The waits after a question for notices that failed.
const (
	firstWait = time.Second
	lastWait  = time.Minute
)

// Spec is what this controller touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:   "interruption",
		Reads:  []loop.Resource{loop.Of("", "nodes"), loop.Of(v1.Group, "nodeclaims")},
		Writes: []loop.Write{loop.To(v1.Group, "nodeclaims", "patch", "delete"), loop.To("", "events", "create", "patch")},
	}
}

// Source is where notices come from.
type Source struct {
	Name   string // of the queue, for the log
	Polled bool   // it is no queue: what is found is not a message that came
	// Receive waits for notices once and hands each to handle. It returns how
	// many came, and an error if the source could not be asked. What is wrong with
	// a single notice goes to failed; one that could not be handled comes again.
	Receive func(ctx context.Context, handle func(context.Context, Notice) error, failed func(error)) (int, error)
	// IDOf returns the machine of a provider id.
	IDOf func(providerID string) (cloud.MachineID, bool)
	// Interrupted notes that spot of a shape was taken back in a zone.
	Interrupted func(shape, zone string)
}

// Controller acts on notices.
type Controller struct {
	Client  client.Client
	Source  Source
	Cluster *cluster.Cluster
	Enact   *enact.Enactor
	Events  *loop.Events
	Metrics *metric.Set
	Now     clock.Now
	Log     logr.Logger

	mu  sync.Mutex         // several notices may come at once
	ill map[string]useless // claims whose machines were said to be of no use, by name
}

// useless is when a machine of a pool was said to be of no use.
type useless struct {
	pool world.PoolID
	at   time.Time
}

// memory is for how long such a machine counts, although it is gone.
const memory = 10 * time.Minute

// NeedLeaderElection keeps all but the leader from taking notices off the queue.
func (c *Controller) NeedLeaderElection() bool { return true }

// Start asks for notices until ctx ends.
func (c *Controller) Start(ctx context.Context) error {
	if !c.Cluster.Await(ctx) {
		return nil
	}
	// Only a source that cannot be asked is waited for: after a notice that is
	// wrong in itself, others may come that have two minutes.
	failed := func(err error) {
		if ctx.Err() == nil && !errors.Is(err, errEarly) {
			c.Log.Error(err, "handle a notice of interruption", "queue", c.Source.Name)
		}
	}
	c.ill = map[string]useless{}
	wait := firstWait
	for ctx.Err() == nil {
		var err error
		broke := panics.Caught(func() { _, err = c.Source.Receive(ctx, c.guarded, failed) })
		if err = errors.Join(err, broke); err == nil {
			wait = firstWait
			continue
		}
		if ctx.Err() == nil {
			c.Log.Error(err, "receive notices of interruption", "queue", c.Source.Name)
		}
		pause := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
		wait = min(2*wait, lastWait)
	}
	return nil
}

// guarded is handle for which a notice that breaks it has failed: it comes again,
// and those beside it are handled.
func (c *Controller) guarded(ctx context.Context, n Notice) (err error) {
	t := panics.Teller{Log: c.Log, Metrics: c.Metrics}
	if !t.Do("interruption", func() { err = c.handle(ctx, n) }, "messageKind", n.Kind, "machines", n.Machines) {
		return errors.New("it meets a bug in Tenon: please report what the log says above")
	}
	return err
}

// errEarly is the error of a notice that has to come again: see Early.
var errEarly = errors.New("it may be about a machine that no claim names yet")

// handle does what a notice asks for.
func (c *Controller) handle(ctx context.Context, n Notice) error {
	var errs []error
	places := c.Cluster.World().Places()
	if Early(n, places, c.Source.IDOf, c.Now()) {
		errs = append(errs, errEarly)
	} else if !c.Source.Polled {
		c.Metrics.Add(metric.InterruptionReceived, 1, n.Kind)
		if !n.At.IsZero() {
			c.Metrics.Observe(metric.InterruptionQueue, max(c.Now.Since(n.At), 0).Seconds())
		}
	}
	steps := Next(n, places, c.Source.IDOf)
	if n.Forced {
		steps = LimitForce(steps, places, c.lately(steps))
	}
	for _, s := range steps {
		if s.Shape != "" {
			c.Source.Interrupted(s.Shape, s.Zone)
		}
		errs = append(errs, c.take(ctx, n, s))
	}
	err := errors.Join(errs...)
	if err == nil && !c.Source.Polled {
		c.Metrics.Add(metric.InterruptionDeleted, 1)
	}
	return err
}

// lately are the claims whose machines were said to be of no use within the memory, and notes that those of steps are.
func (c *Controller) lately(steps []Step) map[string]world.PoolID {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]world.PoolID{}
	for name, said := range c.ill {
		if c.Now.Since(said.at) > memory {
			delete(c.ill, name)
			continue
		}
		out[name] = said.pool
	}
	for _, s := range steps {
		c.ill[s.Claim] = useless{s.Pool, c.Now()}
	}
	return out
}

// take takes one step.
func (c *Controller) take(ctx context.Context, n Notice, s Step) error {
	claim := &v1.NodeClaim{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: s.Claim}, claim); err != nil {
		return client.IgnoreNotFound(err)
	}
	about := []client.Object{claim}
	if s.Node != "" {
		node := &corev1.Node{}
		if err := c.Client.Get(ctx, client.ObjectKey{Name: s.Node}, node); err == nil {
			about = append(about, node)
		}
	}
	action, end := "NoAction", "The machine will be gone: its node is drained now"
	switch {
	case s.Force: // it ends
		action, end = "Terminate", "The machine is of no use any more: it is ended now"
	case s.End && n.Forced:
		action, end = "CordonAndDrain", "More than a fifth of the machines fail their checks: the cause is likely elsewhere, and the node drains in its own time"
	case s.End:
		action = "CordonAndDrain"
	}
	for _, o := range about {
		c.Events.Warning(o, s.Event, "%s", n.Text)
		if s.End {
			c.Events.Warning(o, "TerminatingOnInterruption", "%s", end)
		}
	}
	c.Log.Info("received notice of interruption", "queue", c.Source.Name, "messageKind", n.Kind, "NodeClaim", s.Claim, "node", s.Node, "action", action)
	if !s.End {
		return nil
	}
	if n.Category != "" {
		c.Metrics.Add(metric.InterruptionUnhealthy, 1, n.Category)
	}
	if s.Force {
		var err error
		if claim, err = c.hurry(ctx, claim); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	return c.Enact.Release(ctx, claim, n.Kind)
}

// hurry writes to a claim that its node has no time to drain.
func (c *Controller) hurry(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	return loop.Patch(ctx, c.Client, claim, func(o *v1.NodeClaim) {
		metav1.SetMetaDataAnnotation(&o.ObjectMeta, v1.AnnotationTerminationTime, c.Now().UTC().Format(time.RFC3339))
	})
}
