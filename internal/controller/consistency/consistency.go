// Package consistency says of claims whether their nodes have what was bought.
package consistency

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/loop"
)

const (
	again = 10 * time.Minute
	// least is the share of what was expected, in percent, that a node has to have.
	least = 90
)

// Spec is what this reconciler touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:   "nodeclaim.consistency",
		Reads:  []loop.Resource{loop.Of(v1.Group, "nodeclaims"), loop.Of("", "nodes")},
		Writes: []loop.Write{loop.To(v1.Group, "nodeclaims/status", "patch"), loop.To("", "events", "create", "patch")},
	}
}

// Missing says of which requested resources a node has clearly less than its
// claim expected, in order.
func Missing(c *v1.NodeClaim, n *corev1.Node) []string {
	var out []string
	for name, requested := range c.Spec.Resources.Requests {
		expected, found := c.Status.Capacity[name], n.Status.Capacity[name]
		if requested.IsZero() || expected.IsZero() {
			continue
		}
		if share := 100 * found.AsApproximateFloat64() / expected.AsApproximateFloat64(); share < least {
			out = append(out, fmt.Sprintf("expected %s of resource %s, but found %s (%.1f%% of expected)", expected.String(), name, found.String(), share))
		}
	}
	slices.Sort(out)
	return out
}

// Reconciler keeps the ConsistentStateFound condition of claims.
type Reconciler struct {
	Client  client.Client
	Cluster *cluster.Cluster
	Events  *loop.Events
	Now     clock.Now
}

// Register adds the reconciler to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).Named(Spec().Name).
		For(&v1.NodeClaim{}).
		WithOptions(loop.Options(10, time.Second, time.Minute)).
		Complete(r)
}

// Reconcile compares one claim with its node.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c := &v1.NodeClaim{}
	if err := r.Client.Get(ctx, req.NamespacedName, c); err != nil {
		return loop.Result(0, err)
	}
	if c.DeletionTimestamp != nil || !c.Conditions().Is(v1.ConditionInitialized) || c.Status.NodeName == "" {
		return reconcile.Result{}, nil
	}
	n := &corev1.Node{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: c.Status.NodeName}, n); err != nil {
		return loop.Result(0, err)
	}
	missing := Missing(c, n)
	for _, m := range missing {
		r.Events.Warning(c, "FailedConsistencyCheck", "%s", m)
	}
	next, err := loop.PatchStatus(ctx, r.Client, c, func(c *v1.NodeClaim) {
		if len(missing) > 0 {
			c.Conditions().False(v1.ConditionConsistentStateFound, v1.ReasonConsistencyCheckFailed, strings.Join(missing, "; "), r.Now())
		} else {
			c.Conditions().True(v1.ConditionConsistentStateFound, "", "", r.Now())
		}
	})
	if err == nil && next.ResourceVersion != c.ResourceVersion {
		r.Cluster.Wrote(next)
	}
	return loop.Result(again, err)
}
