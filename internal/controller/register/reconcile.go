package register

import (
	"context"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
)

// Spec is what this reconciler touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:  "nodeclaim.registration",
		Reads: []loop.Resource{loop.Of(v1.Group, "nodeclaims"), loop.Of("", "nodes")},
		Writes: []loop.Write{
			loop.To(v1.Group, "nodeclaims/status", "patch"), loop.To("", "nodes", "patch"), loop.To("", "events", "create", "patch"),
			loop.To("", "pods/status", "patch"),
		},
	}
}

// Pods are those that wait for machines.
type Pods interface {
	// Opening says whether a node that has joined is to take pods now, which it does after patience at the latest.
	Opening(node string, patience time.Duration) nominate.Opening
	// Joined is called when a claim's machine has become a node.
	Joined(ctx context.Context, claim, node string)
}

// Reconciler matches nodes with claims.
type Reconciler struct {
	Client  client.Client
	Live    client.Reader // without a cache
	Cluster *cluster.Cluster
	Pods    Pods
	Events  *loop.Events
	Metrics *metric.Set
	Now     clock.Now
	Hold    time.Duration // for which a node that has joined may take no pods at most
}

// Register adds the reconciler to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).Named(Spec().Name).
		For(&v1.NodeClaim{}).
		Watches(&corev1.Node{}, loop.Mapped(r.Cluster.Panics, loop.ClaimsOfNode(r.Client))).
		WithOptions(loop.Options(m, Spec().Name, 50, 100*time.Millisecond, time.Minute)).
		Complete(r)
}

// Reconcile takes the step that is due for one claim.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c := &v1.NodeClaim{}
	if err := r.Client.Get(ctx, req.NamespacedName, c); err != nil {
		return loop.Result(0, err)
	}
	var nodes corev1.NodeList
	if c.Status.ProviderID != "" {
		if err := r.Client.List(ctx, &nodes, client.MatchingFields{loop.NodeProviderID: c.Status.ProviderID}); err != nil {
			return loop.Result(0, err)
		}
	}
	switch Next(c, nodes.Items) {
	case Wait:
		return loop.Result(0, r.say(ctx, c, func(c *v1.NodeClaim) {
			c.Conditions().Unknown(v1.ConditionRegistered, v1.ReasonNodeNotFound, "Node not registered with cluster", r.Now())
		}))
	case TooMany:
		return loop.Result(0, r.say(ctx, c, func(c *v1.NodeClaim) {
			c.Conditions().False(v1.ConditionRegistered, v1.ReasonMultipleNodesFound, Several(nodes.Items), r.Now())
		}))
	case Match:
		n := &nodes.Items[0]
		if o, again := r.waits(n); again > 0 {
			return loop.Result(again, r.keep(ctx, c, n, o))
		}
		return loop.Result(0, r.match(ctx, c, n))
	case Rejoin:
		return loop.Result(0, r.rejoin(ctx, c, &nodes.Items[0]))
	case Nothing:
	}
	return reconcile.Result{}, nil
}

// A node that takes no pods yet is looked at again so soon, and one that is not in the cluster state yet sooner.
const (
	lookAgain = time.Second
	notSeen   = 100 * time.Millisecond
)

// waits says of a node that takes no pods yet for whose sake, and when to look again; zero if it is to take pods now.
func (r *Reconciler) waits(n *corev1.Node) (nominate.Opening, time.Duration) {
	left := Left(n, r.Hold, r.Now())
	if left <= 0 || !Closed(n) {
		return nominate.Opening{}, 0
	}
	switch o := r.Pods.Opening(n.Name, r.Hold); {
	case o.Open:
		return o, 0
	case len(o.Pods) == 0:
		return o, min(left, notSeen)
	default:
		return o, min(left, lookAgain)
	}
}

// keep writes to a node that it is the claim's, and to the claim for whose sake it takes no pods yet.
func (r *Reconciler) keep(ctx context.Context, c *v1.NodeClaim, n *corev1.Node, o nominate.Opening) error {
	if len(o.Pods) == 0 {
		return nil
	}
	if err := r.mark(ctx, c, n, Kept); err != nil {
		return err
	}
	if s := c.Conditions().Get(v1.ConditionRegistered); s != nil && s.Reason == v1.ReasonWaitingForZones {
		return nil // it has been said, and need not be said again for every pod
	}
	log.FromContext(ctx).Info("keeping pods off the node until others have joined", "NodeClaim", c.Name, "Node", n.Name, "pods", len(o.Pods))
	return r.say(ctx, c, func(c *v1.NodeClaim) {
		c.Conditions().Unknown(v1.ConditionRegistered, v1.ReasonWaitingForZones, Waiting(n.Name, o), r.Now())
	})
}

// match writes to the node that it is the claim's, and then to the claim.
func (r *Reconciler) match(ctx context.Context, c *v1.NodeClaim, n *corev1.Node) error {
	if Unguarded(n, c) {
		r.Events.Warning(c, "UnregisteredTaintMissing", "Node %s joined without the taint %s: pods may have started there too early", n.Name, v1.TaintUnregistered)
	}
	r.Pods.Joined(ctx, c.Name, n.Name) // before others may be put there
	if err := r.mark(ctx, c, n, Matched); err != nil {
		return err
	}
	err := r.say(ctx, c, func(c *v1.NodeClaim) {
		c.Status.NodeName = n.Name
		c.Conditions().True(v1.ConditionRegistered, "", "", r.Now())
	})
	if err != nil {
		return err
	}
	r.Metrics.Add(metric.NodesCreated, 1, loop.PoolName(c.Labels), c.Labels[v1.LabelZone])
	log.FromContext(ctx).Info("registered nodeclaim", "NodeClaim", c.Name, "provider-id", c.Status.ProviderID, "Node", n.Name)
	return nil
}

// rejoin writes to a node that was made again that it is the claim's: else it would take no pods for ever, and nothing
// would drain it.
func (r *Reconciler) rejoin(ctx context.Context, c *v1.NodeClaim, n *corev1.Node) error {
	if err := r.mark(ctx, c, n, Rejoined); err != nil {
		return err
	}
	return r.say(ctx, c, func(c *v1.NodeClaim) { c.Status.NodeName = n.Name })
}

// mark writes to a node what as makes of it for its claim. One that has just joined is
// written to by its kubelet and by others as well, sooner than a cache shows: so it is
// read again right before, instead of after a write that is refused.
func (r *Reconciler) mark(ctx context.Context, c *v1.NodeClaim, n *corev1.Node, as func(*corev1.Node, *v1.NodeClaim) *corev1.Node) error {
	if reflect.DeepEqual(n, as(n, c)) {
		return nil
	}
	now := &corev1.Node{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(n), now); err != nil {
		return err
	}
	if now.UID == n.UID && now.Spec.ProviderID == n.Spec.ProviderID {
		n = now // another of its name is for the cache to show
	}
	next := as(n, c)
	if reflect.DeepEqual(n, next) {
		return nil
	}
	return r.Client.Patch(ctx, next, client.MergeFromWithOptions(n, client.MergeFromWithOptimisticLock{}))
}

func (r *Reconciler) say(ctx context.Context, c *v1.NodeClaim, change func(*v1.NodeClaim)) error {
	next, err := loop.PatchStatus(ctx, r.Client, c, change)
	if err != nil {
		return err
	}
	if next.ResourceVersion != c.ResourceVersion {
		r.Cluster.Wrote(next)
	}
	return nil
}
