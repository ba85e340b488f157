package terminate

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
)

// Claims ends claims that are being deleted.
type Claims struct {
	Client   client.Client
	Cluster  *cluster.Cluster
	Machines *Machines
	Events   *loop.Events
	Metrics  *metric.Set
	Now      clock.Now

	ages clock.Ages // of launches, by claim
}

// Register adds the reconciler to a manager.
func (r *Claims) Register(m ctrl.Manager) error {
	going := predicate.NewPredicateFuncs(func(o client.Object) bool {
		return o.GetDeletionTimestamp() != nil && controllerutil.ContainsFinalizer(o, v1.Finalizer)
	})
	// A claim goes on when its node is gone.
	gone := predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(event.UpdateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return true },
	}
	return ctrl.NewControllerManagedBy(m).Named("nodeclaim.termination").
		Watches(&v1.NodeClaim{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(going)).
		Watches(&corev1.Node{}, handler.EnqueueRequestForOwner(m.GetScheme(), m.GetRESTMapper(), &v1.NodeClaim{}), builder.WithPredicates(gone)).
		WithOptions(loop.Options(m, "nodeclaim.termination", 100, 100*time.Millisecond, 10*time.Second)).
		Complete(r)
}

// Reconcile does the next step for one claim.
func (r *Claims) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var c v1.NodeClaim
	if err := r.Client.Get(ctx, req.NamespacedName, &c); err != nil {
		if apierrors.IsNotFound(err) {
			r.ages.Forget(req.Name)
		}
		return loop.Result(0, err)
	}
	if c.DeletionTimestamp == nil || !controllerutil.ContainsFinalizer(&c, v1.Finalizer) {
		r.ages.Forget(req.Name)
		return reconcile.Result{}, nil
	}
	if ok, _ := r.Cluster.Synced(); !ok {
		return reconcile.Result{RequeueAfter: poll}, nil
	}
	next, err := r.promise(ctx, &c)
	if err != nil {
		return loop.Result(0, err)
	}
	return loop.Result(r.act(ctx, next))
}

// promise writes to a claim with a grace period when its node goes at the latest.
func (r *Claims) promise(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
	at := Deadline(c)
	if at.IsZero() {
		return c, nil
	}
	text := at.UTC().Format(time.RFC3339)
	r.Events.Warning(c, "TerminationGracePeriodExpiring", "All pods will be deleted by %s", text)
	if c.Annotations[v1.AnnotationTerminationTime] != "" {
		return c, nil
	}
	return loop.Patch(ctx, r.Client, c, func(c *v1.NodeClaim) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1.AnnotationTerminationTime, text) })
}

func (r *Claims) act(ctx context.Context, c *v1.NodeClaim) (time.Duration, error) {
	nodes, err := loop.NodesAt(ctx, r.Client, c.Status.ProviderID)
	if err != nil {
		return 0, err
	}
	seen := Claim{Registered: c.Conditions().Is(v1.ConditionRegistered), Nodes: len(nodes), Machine: c.Status.ProviderID != "", Ordered: c.Ordered()}
	for i := range nodes {
		if open(&nodes[i]) {
			seen.Open++
		}
	}
	step := NextOfClaim(seen)
	if step == End {
		if seen.Gone, err = r.end(ctx, c); err != nil || !seen.Gone {
			return recent, err
		}
		step = NextOfClaim(seen)
	}
	tellHeld(r.Events, c, nodes)
	switch step {
	case DeleteNodes:
		if err := r.guard(ctx, nodes); err != nil {
			return 0, err
		}
		return 5 * time.Second, r.deleteNodes(ctx, nodes)
	case SweepNodes:
		return 5 * time.Second, r.deleteNodes(ctx, nodes)
	case Wait:
		return poll, nil
	case Release:
		return 0, r.release(ctx, c)
	}
	return 0, fmt.Errorf("claim %q: unknown step %q", c.Name, step)
}

// end ends the machine of a claim, and reports whether it is gone. One that was
// bought just now may not be shown yet, unless its node has registered or the
// cloud remembers that it has ended.
func (r *Claims) end(ctx context.Context, c *v1.NodeClaim) (bool, error) {
	found, err := r.Machines.End(ctx, c.Status.ProviderID)
	tellOdd(r.Events, c, found)
	if found.Odd != "" {
		log.FromContext(ctx).Info("the machine of a nodeclaim is not marked as this cluster's", "NodeClaim", c.Name, "provider-id", c.Status.ProviderID, "found", found.Odd)
	}
	if err != nil {
		tellRefused(r.Events, c, err)
		now := r.Now()
		return false, errors.Join(err, note(ctx, r.Client, r.Cluster, c, func(c *v1.NodeClaim) { Refused(c, err, now) }))
	}
	gone := found.Gone || found.Left
	ending := c.Conditions().Is(v1.ConditionInstanceTerminating)
	launched := c.Conditions().Get(v1.ConditionLaunched)
	if gone && !found.Over && !ending && !c.Conditions().Is(v1.ConditionRegistered) && launched != nil && r.ages.Waited(r.Now, c.Name, string(c.UID), launched.LastTransitionTime.Time) < cloud.Unlisted {
		return false, nil
	}
	if !gone && !ending {
		now := r.Now()
		return false, note(ctx, r.Client, r.Cluster, c, func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionInstanceTerminating, "", "", now) })
	}
	return gone, nil
}

// guard has nodes drained before they are gone that have not been matched with a claim.
func (r *Claims) guard(ctx context.Context, nodes []corev1.Node) error {
	for i := range nodes {
		n := &nodes[i]
		if n.DeletionTimestamp != nil || controllerutil.ContainsFinalizer(n, v1.Finalizer) {
			continue
		}
		next, err := loop.Patch(ctx, r.Client, n, func(n *corev1.Node) { controllerutil.AddFinalizer(n, v1.Finalizer) })
		if err != nil {
			return fmt.Errorf("have node %q drained: %w", n.Name, err)
		}
		*n = *next
	}
	return nil
}

// deleteNodes deletes nodes, which are drained before they are gone.
func (r *Claims) deleteNodes(ctx context.Context, nodes []corev1.Node) error {
	for i := range nodes {
		n := &nodes[i]
		if n.DeletionTimestamp != nil {
			continue
		}
		uid := n.UID
		if err := r.Client.Delete(ctx, n, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
			return fmt.Errorf("delete node %q: %w", n.Name, err)
		}
	}
	return nil
}

// release lets go of a claim whose machine is gone.
func (r *Claims) release(ctx context.Context, c *v1.NodeClaim) error {
	if _, err := loop.Patch(ctx, r.Client, c, func(c *v1.NodeClaim) { controllerutil.RemoveFinalizer(c, v1.Finalizer) }); err != nil {
		return err
	}
	if c.Labels[v1.LabelCapacityType] == label.Reserved {
		r.Machines.Freed()
	}
	pool := loop.PoolName(c.Labels)
	log.FromContext(ctx).V(1).Info("terminated nodeclaim", "NodeClaim", c.Name, "NodePool", pool)
	r.Metrics.Add(metric.ClaimsTerminated, 1, pool, c.Labels[v1.LabelCapacityType], c.Labels[v1.LabelZone])
	r.Metrics.Observe(metric.ClaimsTerminationDuration, r.Now.Since(c.DeletionTimestamp.Time).Seconds(), pool)
	if ending := c.Conditions().Get(v1.ConditionInstanceTerminating); c.Conditions().Is(v1.ConditionInstanceTerminating) {
		r.Metrics.Observe(metric.ClaimsInstanceTerminationDuration, r.Now.Since(ending.LastTransitionTime.Time).Seconds(), pool)
	}
	return nil
}
