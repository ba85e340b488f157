package initialize

import (
	"context"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/loop"
)

// Spec is what this reconciler touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:   "nodeclaim.initialization",
		Reads:  []loop.Resource{loop.Of(v1.Group, "nodeclaims"), loop.Of("", "nodes")},
		Writes: []loop.Write{loop.To(v1.Group, "nodeclaims/status", "patch"), loop.To("", "nodes", "patch")},
	}
}

// Reconciler says when nodes can take pods.
type Reconciler struct {
	Client  client.Client
	Cluster *cluster.Cluster
	Now     clock.Now
}

// Register adds the reconciler to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).Named(Spec().Name).
		For(&v1.NodeClaim{}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(loop.ClaimsOfNode(r.Client))).
		WithOptions(loop.Options(50, 100*time.Millisecond, time.Minute)).
		Complete(r)
}

// Reconcile takes the step that is due for one claim.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c := &v1.NodeClaim{}
	if err := r.Client.Get(ctx, req.NamespacedName, c); err != nil {
		return loop.Result(0, err)
	}
	var n *corev1.Node
	if c.Status.NodeName != "" {
		n = &corev1.Node{}
		if err := r.Client.Get(ctx, client.ObjectKey{Name: c.Status.NodeName}, n); client.IgnoreNotFound(err) != nil {
			return loop.Result(0, err)
		} else if err != nil {
			n = nil
		}
	}
	step := Next(c, n)
	switch step.Kind {
	case Wait:
		return loop.Result(0, r.say(ctx, c, func(c *v1.NodeClaim) {
			c.Conditions().Unknown(v1.ConditionInitialized, step.Reason, step.Message, r.Now())
		}))
	case Done:
		_, err := loop.Patch(ctx, r.Client, n, func(n *corev1.Node) {
			n.Labels = maps.Clone(n.Labels)
			if n.Labels == nil {
				n.Labels = map[string]string{}
			}
			n.Labels[v1.LabelInitialized] = "true"
		})
		if err == nil {
			err = r.say(ctx, c, func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionInitialized, "", "", r.Now()) })
		}
		if err == nil {
			log.FromContext(ctx).Info("initialized nodeclaim", "NodeClaim", c.Name, "provider-id", c.Status.ProviderID, "Node", n.Name, "allocatable", n.Status.Allocatable)
		}
		return loop.Result(0, err)
	case Nothing:
	}
	return reconcile.Result{}, nil
}

func (r *Reconciler) say(ctx context.Context, c *v1.NodeClaim, change func(*v1.NodeClaim)) error {
	next, err := loop.PatchStatus(ctx, r.Client, c, change)
	if err == nil && next.ResourceVersion != c.ResourceVersion {
		r.Cluster.Wrote(next)
	}
	return err
}
