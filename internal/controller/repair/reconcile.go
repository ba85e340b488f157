package repair

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/observe"
)

// blocked is how soon a node is looked at again while too many are ill.
const blocked = 5 * time.Minute

// Spec is what this reconciler touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:  "node.health",
		Reads: []loop.Resource{loop.Of("", "nodes"), loop.Of(v1.Group, "nodeclaims")},
		Writes: []loop.Write{
			loop.To(v1.Group, "nodeclaims", "patch", "delete"), loop.To("", "events", "create", "patch"),
		},
	}
}

// Reconciler ends claims of nodes that are ill for too long. They drain
// without time: what is on them does not work anyway.
type Reconciler struct {
	Client   client.Client
	Enact    *enact.Enactor
	Events   *loop.Events
	Metrics  *metric.Set
	Now      clock.Now
	Policies []Policy

	ages clock.Ages // of conditions, by node
}

// Register adds the reconciler to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).Named(Spec().Name).
		For(&corev1.Node{}).
		WithOptions(loop.Options(m, Spec().Name, 10, time.Second, time.Minute)).
		Complete(r)
}

// Reconcile looks at the health of one node.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	n := &corev1.Node{}
	if err := r.Client.Get(ctx, req.NamespacedName, n); err != nil {
		if apierrors.IsNotFound(err) {
			r.ages.Forget(req.Name)
		}
		return loop.Result(0, err)
	}
	pool := observe.PoolOf(n.Labels)
	if n.DeletionTimestamp != nil || n.Spec.ProviderID == "" {
		return reconcile.Result{}, nil
	}
	ill, ok := r.illness(n)
	if !ok {
		return reconcile.Result{}, nil
	}
	if ill.Left > 0 {
		return reconcile.Result{RequeueAfter: ill.Left}, nil
	}
	claims, err := loop.ClaimsAt(ctx, r.Client, n.Spec.ProviderID)
	if err != nil || len(claims) == 0 {
		return loop.Result(0, err)
	}
	c := &claims[0]
	switch too, err := r.tooMany(ctx, pool); {
	case err != nil:
		return loop.Result(0, err)
	case too:
		for _, o := range []client.Object{n, c} {
			r.Events.WarningEvery(15*time.Minute, o, "NodeRepairBlocked", "More than a fifth of the nodes "+whose(pool)+" are unhealthy: the cause is likely elsewhere, and none is replaced")
		}
		return reconcile.Result{RequeueAfter: blocked}, nil
	}
	return loop.Result(0, r.end(ctx, c, ill))
}

// illness is what is wrong with a node, for as long as it has been seen to be.
// What the node itself says it dates by its own clock, which may be wrong: a
// machine must not end because that is behind.
func (r *Reconciler) illness(n *corev1.Node) (Unhealthy, bool) {
	return Illness(n, r.Policies, func(c corev1.NodeCondition) time.Duration {
		key := string(n.UID) + "/" + string(c.Type)
		if c.Status == corev1.ConditionUnknown || c.LastHeartbeatTime.IsZero() { // says the control plane, of a node that says nothing
			return r.ages.Since(r.Now, n.Name, key, c.LastTransitionTime.Time)
		}
		return r.ages.SinceShown(r.Now, n.Name, key, c.LastTransitionTime.Time, c.LastHeartbeatTime.Time)
	})
}

// whose names the nodes among which those that are ill are counted.
func whose(pool world.PoolID) string {
	if pool == (world.PoolID{}) {
		return "of the cluster"
	}
	return "of " + pool.Name
}

// tooMany reports whether so many nodes of a pool are ill that none is replaced.
// For a node of a claim that was made by hand, which has no pool, those of the
// whole cluster count.
func (r *Reconciler) tooMany(ctx context.Context, pool world.PoolID) (bool, error) {
	var all corev1.NodeList // not copied: nothing of it is changed or kept
	if err := r.Client.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("nodes %s: %w", whose(pool), err)
	}
	nodes, ill := 0, 0
	for i := range all.Items {
		if pool != (world.PoolID{}) && observe.PoolOf(all.Items[i].Labels) != pool {
			continue
		}
		nodes++
		if _, bad := r.illness(&all.Items[i]); bad {
			ill++
		}
	}
	return loop.TooMany(ill, nodes), nil
}

// end ends a claim whose node has no time to drain.
func (r *Reconciler) end(ctx context.Context, c *v1.NodeClaim, ill Unhealthy) error {
	now := r.Now()
	at, err := time.Parse(time.RFC3339, c.Annotations[v1.AnnotationTerminationTime])
	if err != nil || at.After(now) {
		if c, err = loop.Patch(ctx, r.Client, c, func(c *v1.NodeClaim) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1.AnnotationTerminationTime, now.UTC().Format(time.RFC3339))
		}); err != nil {
			return err
		}
	}
	if c.DeletionTimestamp != nil {
		return nil
	}
	log.FromContext(ctx).Info("deleting unhealthy node", "NodeClaim", c.Name, "condition", ill.Condition)
	if err := r.Enact.Release(ctx, c, enact.Unhealthy); err != nil {
		return err
	}
	r.Metrics.Add(metric.ClaimsUnhealthyDisrupted, 1, string(ill.Condition), loop.PoolName(c.Labels), c.Labels[v1.LabelCapacityType], c.Status.ImageID)
	return nil
}
