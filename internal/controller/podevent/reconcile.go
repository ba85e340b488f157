package podevent

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/loop"
)

// Spec is what this reconciler touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:   "nodeclaim.podevents",
		Reads:  []loop.Resource{loop.Of("", "pods"), loop.Of(v1.Group, "nodeclaims"), loop.Of(v1.Group, "nodepools")},
		Writes: []loop.Write{loop.To(v1.Group, "nodeclaims/status", "patch")},
	}
}

// Reconciler writes the times of pod events. A request names a node.
type Reconciler struct {
	Client  client.Client
	Cluster *cluster.Cluster
	Now     clock.Now

	mu    sync.Mutex
	at    map[string]time.Time // of the last event, by node; until it is written
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// Register adds the reconciler to a manager. It must be called before the cluster state's sources start.
func (r *Reconciler) Register(m ctrl.Manager) error {
	r.at = map[string]time.Time{}
	r.Cluster.Listen(func(change cluster.Change) {
		node := NodeOf(change)
		if node == "" {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.queue == nil {
			return // this process does not lead: the one that does, writes
		}
		r.at[node] = r.Now()
		r.queue.Add(reconcile.Request{NamespacedName: client.ObjectKey{Name: node}})
	})
	c, err := controller.New(Spec().Name, m, withReconciler(loop.Options(m, Spec().Name, 10, time.Second, time.Minute), r))
	if err != nil {
		return err
	}
	return c.Watch(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.queue = q
		return nil
	}))
}

func withReconciler(o controller.Options, r reconcile.Reconciler) controller.Options {
	o.Reconciler = r
	return o
}

// Reconcile writes the last event of one node to its claim.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	r.mu.Lock()
	at, ok := r.at[req.Name]
	r.mu.Unlock()
	w := r.Cluster.Recent(time.Second)
	place := w.Place(req.Name)
	if !ok || place == nil || place.Claim == nil {
		r.written(req.Name, at)
		return reconcile.Result{}, nil
	}
	claim := &v1.NodeClaim{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: place.Claim.Name}, claim); err != nil {
		return loop.Result(0, err)
	}
	if wait := Due(claim.Status.LastPodEventTime.Time, r.Now(), Window(w.Pool(place.Pool()))); wait > 0 {
		return loop.Result(wait, nil)
	}
	next, err := loop.PatchStatus(ctx, r.Client, claim, func(c *v1.NodeClaim) {
		c.Status.LastPodEventTime = metav1.NewTime(at.Truncate(time.Second))
		c.Conditions().Clear(v1.ConditionConsolidatable, r.Now()) // which follows from it
	})
	if err != nil {
		return loop.Result(0, err)
	}
	r.Cluster.Wrote(next)
	r.written(req.Name, at)
	return reconcile.Result{}, nil
}

// written forgets an event, unless there has been another since.
func (r *Reconciler) written(node string, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at[node].Equal(at) {
		delete(r.at, node)
	}
}
