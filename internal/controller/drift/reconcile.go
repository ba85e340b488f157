package drift

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/observe"
)

const (
	// lookEvery is how often a claim is looked at although it and its pool stay the same.
	lookEvery = 5 * time.Minute
	// catalogueRetryAfter is after how long a claim is looked at again for which there is no catalogue yet.
	catalogueRetryAfter = 30 * time.Second
	// unread is when it is looked at again while the cluster is being read.
	unread = 5 * time.Second
)

// Spec is what this reconciler touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:   "nodeclaim.drift",
		Reads:  []loop.Resource{loop.Of(v1.Group, "nodepools"), loop.Of(v1.Group, "nodeclaims"), loop.Of("", "nodes")},
		Writes: []loop.Write{loop.To(v1.Group, "nodeclaims/status", "patch"), loop.To(v1.Group, "nodeclaims", "patch"), loop.To("", "nodes", "patch")},
	}
}

// Reconciler keeps the Drifted condition of claims.
type Reconciler struct {
	Client  client.Client
	Cloud   *cloud.Cloud
	Cluster *cluster.Cluster
	Now     clock.Now
}

// Register adds the reconciler to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).Named(Spec().Name).
		For(&v1.NodeClaim{}, builder.WithPredicates(predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return matters(e.ObjectOld, e.ObjectNew) }})).
		Watches(&v1.NodePool{}, loop.Mapped(r.Cluster.Panics, r.ofPool)).
		WithOptions(loop.Options(m, Spec().Name, 10, time.Second, 5*time.Minute)).
		Complete(r)
}

// matters reports whether a change of a claim can be one of whether it has drifted. To look costs reads of its class, and
// pods that come and go, and how long it has been quiet, change claims more often than all else.
func matters(was, is client.Object) bool {
	before, ok := was.(*v1.NodeClaim)
	after, okay := is.(*v1.NodeClaim)
	if !ok || !okay || before.ResourceVersion == after.ResourceVersion {
		return true
	}
	return !reflect.DeepEqual(looked(before), looked(after))
}

// looked is a claim without what says nothing of drift.
func looked(c *v1.NodeClaim) *v1.NodeClaim {
	out := &v1.NodeClaim{Spec: c.Spec, Status: c.Status}
	out.Labels, out.Annotations, out.DeletionTimestamp = c.Labels, c.Annotations, c.DeletionTimestamp
	out.Status.LastPodEventTime = metav1.Time{}
	out.Status.Conditions = slices.DeleteFunc(slices.Clone(c.Status.Conditions), func(c metav1.Condition) bool {
		return c.Type == v1.ConditionConsolidatable || c.Type == v1.ConditionDisruptionReason
	})
	return out
}

// ofPool maps a pool to its claims.
func (r *Reconciler) ofPool(ctx context.Context, o client.Object) []reconcile.Request {
	var claims v1.NodeClaimList // not copied: nothing but names is read
	if err := r.Client.List(ctx, &claims, client.MatchingLabels{v1.LabelNodePool: o.GetName()}, client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache does not fail but while it stops
	}
	out := make([]reconcile.Request, len(claims.Items))
	for i := range claims.Items {
		out[i].Name = claims.Items[i].Name
	}
	return out
}

// Reconcile says of one claim whether it has drifted.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if ok, _ := r.Cluster.Synced(); !ok { // before anything is read: thousands of claims wait for it
		return reconcile.Result{RequeueAfter: unread}, nil
	}
	c := &v1.NodeClaim{}
	if err := r.Client.Get(ctx, req.NamespacedName, c); err != nil {
		return loop.Result(0, err)
	}
	if c.DeletionTimestamp != nil || !c.Conditions().Is(v1.ConditionRegistered) {
		return reconcile.Result{}, nil
	}
	reason, changed, known, err := r.reason(ctx, c)
	if err != nil {
		return loop.Result(0, err)
	}
	was := c.Conditions().Is(v1.ConditionDrifted)
	next, err := loop.PatchStatus(ctx, r.Client, c, func(c *v1.NodeClaim) {
		switch {
		case reason != "":
			c.Conditions().True(v1.ConditionDrifted, reason, cmp.Or(changed, reason), r.Now())
		case Over(c.Conditions().Get(v1.ConditionDrifted), known):
			c.Conditions().Clear(v1.ConditionDrifted, r.Now())
		}
	})
	if err != nil {
		return loop.Result(0, err)
	}
	if next.ResourceVersion != c.ResourceVersion {
		r.Cluster.Wrote(next)
	}
	if reason != "" && !was {
		log.FromContext(ctx).Info("marked drifted", "NodeClaim", c.Name, "reason", reason, "changed", changed)
	}
	if !known.Sold {
		return reconcile.Result{RequeueAfter: catalogueRetryAfter}, nil
	}
	return reconcile.Result{RequeueAfter: lookEvery}, nil
}

// reason says how a claim has drifted and what differs, and what is known of all that this
// depends on. The driver is asked last: it is the dearest.
func (r *Reconciler) reason(ctx context.Context, c *v1.NodeClaim) (reason, changed string, known Known, err error) {
	w := r.Cluster.Recent(time.Second)
	item := observe.Claim(c)
	seen := Seen{Now: r.Now(), Claim: c, World: w.Pool(item.Pool), Catalog: w.CatalogFor(item.Pool, item.Template)}
	if place := w.Place(c.Status.NodeName); place != nil {
		seen.Labels = place.Labels()
	}
	if item.Pool.Kind == world.NodePool {
		p := &v1.NodePool{}
		switch err := r.Client.Get(ctx, client.ObjectKey{Name: item.Pool.Name}, p); {
		case err == nil:
			// What woke this reconciler may be a change that the cluster state does not show
			// yet, and the next look at the claim is minutes away.
			now := observe.NodePool(p)
			seen.Pool, seen.World = p, &now
		case client.IgnoreNotFound(err) != nil:
			return "", "", known, fmt.Errorf("pool of claim %q: %w", c.Name, err)
		}
	}
	known.Sold = seen.Catalog != nil
	if reason = Reason(seen); reason != "" {
		return reason, Changes(seen, reason), known, nil
	}
	why, compared, err := r.ask(ctx, c, item.Template)
	known.Machine = compared
	return why.Reason, why.Changed, known, err
}

// ask has the driver compare the machine with its template; false if it cannot.
// That a catalogue could not be had a moment ago does not keep it from trying.
func (r *Reconciler) ask(ctx context.Context, c *v1.NodeClaim, id world.TemplateID) (why cloud.Drifted, compared bool, err error) {
	template, broken, wanted := r.Cloud.Template(id)
	if !wanted || cloud.CodeOf(broken) == cloud.NotReady {
		return why, false, nil // nothing can be compared with what cannot be had
	}
	why, compared, reserved, err := r.compare(ctx, c, template, r.Now().Add(-lookEvery))
	if reserved && why.Reason != "" { // its reservation may have ended since machines were listed, and it is on-demand now
		why, compared, _, err = r.compare(ctx, c, template, r.Now())
	}
	return why, compared, err
}

// compare has the driver compare the machine, as it was listed at a time or later, with its template, and says whether it was in a reservation then.
func (r *Reconciler) compare(ctx context.Context, c *v1.NodeClaim, template cloud.Template, since time.Time) (why cloud.Drifted, compared, reserved bool, err error) {
	m, there, err := r.Cloud.Find(ctx, c.Status.ProviderID, since)
	if err != nil || !there {
		return why, false, false, err
	}
	if err := r.unreserve(ctx, c, m); err != nil {
		return why, false, false, err
	}
	m.Annotations = c.Annotations
	why, err = r.Cloud.Drift(ctx, m, template)
	if cloud.CodeOf(err) == cloud.NotReady || cloud.CodeOf(err) == cloud.Gone {
		return cloud.Drifted{}, false, false, nil
	}
	return why, err == nil, m.CapacityType == label.Reserved, err
}
