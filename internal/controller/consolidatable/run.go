package consolidatable

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/loop"
)

// pace is the least time between two looks at the cluster.
const pace = time.Second

// Spec is what this controller touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:   "nodeclaim.disruption",
		Reads:  []loop.Resource{loop.Of("", "pods"), loop.Of("", "nodes"), loop.Of(v1.Group, "nodeclaims"), loop.Of(v1.Group, "nodepools"), loop.Of(v1.Group, "provisioners")},
		Writes: []loop.Write{loop.To("", "nodes", "patch"), loop.To(v1.Group, "nodeclaims/status", "patch")},
	}
}

// Controller says what changed.
type Controller struct {
	Client  client.Client
	Cluster *cluster.Cluster
	Now     clock.Now
	Log     logr.Logger

	passes *loop.Passes
	said   map[string]State // by claim
}

// Listen subscribes the controller to changes of the cluster state. It must be called before the cluster's sources start.
func (c *Controller) Listen() {
	c.passes = loop.NewPasses(loop.Passes{Name: "consolidatable", Pace: pace, Now: c.Now, Panics: c.Cluster.Panics})
	c.said = map[string]State{}
	c.Cluster.Listen(func(cluster.Change) { c.passes.Wake() })
}

// NeedLeaderElection keeps all but the leader from writing.
func (c *Controller) NeedLeaderElection() bool { return true }

// Start looks whenever something has changed or is due, until ctx ends.
func (c *Controller) Start(ctx context.Context) error {
	if !c.Cluster.Await(ctx) {
		return nil
	}
	c.passes.Run(ctx, 0, c.pass)
	return nil
}

// pass writes what is not said yet, and returns how long nothing more is due by itself.
func (c *Controller) pass(ctx context.Context) time.Duration {
	w := c.Cluster.Recent(pace)
	states, again := States(w)
	wait := time.Hour
	if again > 0 {
		wait = max(c.Now.Until(time.Unix(again, 0)), pace)
	}
	for name, s := range states {
		if was, ok := c.said[name]; ok && was == s {
			continue
		}
		if err := c.say(ctx, s); err != nil {
			if ctx.Err() == nil {
				c.Log.V(1).Info("say how quiet a node is", "NodeClaim", name, "error", err.Error())
			}
			wait = pace // it has changed meanwhile
			continue
		}
		c.said[name] = s
	}
	for name := range c.said {
		if _, ok := states[name]; !ok {
			delete(c.said, name)
		}
	}
	return wait
}

func (c *Controller) say(ctx context.Context, s State) error {
	claim := &v1.NodeClaim{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: s.Claim}, claim); err != nil {
		return client.IgnoreNotFound(err)
	}
	next, err := loop.PatchStatus(ctx, c.Client, claim, func(claim *v1.NodeClaim) {
		if s.Consolidatable {
			claim.Conditions().True(v1.ConditionConsolidatable, "", "", c.Now())
		} else {
			claim.Conditions().Clear(v1.ConditionConsolidatable, c.Now())
		}
	})
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err == nil && next.ResourceVersion != claim.ResourceVersion {
		c.Cluster.Wrote(next)
	}
	return c.mark(ctx, s)
}

// mark writes to a node of a Provisioner since when it is empty.
func (c *Controller) mark(ctx context.Context, s State) error {
	node := &corev1.Node{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: s.Node}, node); err != nil {
		return client.IgnoreNotFound(err)
	}
	_, marked := node.Annotations[v1alpha5.AnnotationEmptinessTime]
	if marked == s.Empty {
		return nil
	}
	next := node.DeepCopy()
	if s.Empty {
		metav1.SetMetaDataAnnotation(&next.ObjectMeta, v1alpha5.AnnotationEmptinessTime, c.Now().UTC().Format(time.RFC3339))
	} else {
		delete(next.Annotations, v1alpha5.AnnotationEmptinessTime)
	}
	err := c.Client.Patch(ctx, next, client.MergeFrom(node)) // no other controller writes it: what else has changed does not matter
	switch {
	case err != nil:
		return client.IgnoreNotFound(err)
	case s.Empty:
		c.Log.Info("Added TTL to empty node", "node", s.Node)
	default:
		c.Log.Info("Removed emptiness TTL from node", "node", s.Node)
	}
	return nil
}
