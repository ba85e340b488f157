package static

import (
	"context"
	"errors"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
)

const (
	unsynced = time.Second      // until the picture of the cluster is complete
	held     = 30 * time.Second // until a limit may have room again
	again    = time.Minute      // whatever happens
)

// Spec is what this reconciler touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:   "static.provisioning",
		Reads:  []loop.Resource{loop.Of(v1.Group, "nodepools"), loop.Of(v1.Group, "nodeclaims"), loop.Of("", "nodes"), loop.Of("", "pods")},
		Writes: []loop.Write{loop.To(v1.Group, "nodeclaims", "create", "delete")},
	}
}

// Reconciler keeps static pools at their number.
type Reconciler struct {
	Client  client.Client
	Cluster *cluster.Cluster
	Enact   *enact.Enactor
	Now     clock.Now

	mu       sync.Mutex
	patience map[string]Patience // by pool
	lacks    map[string]int      // machines that a pool could not have at the last look
}

// Register adds the reconciler to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	ofClaim := loop.Mapped(r.Cluster.Panics, func(_ context.Context, o client.Object) []reconcile.Request {
		if pool := o.GetLabels()[v1.LabelNodePool]; pool != "" {
			return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: pool}}}
		}
		return nil
	})
	return ctrl.NewControllerManagedBy(m).Named(Spec().Name).
		For(&v1.NodePool{}).
		Watches(&v1.NodeClaim{}, ofClaim).
		WithOptions(loop.Options(m, Spec().Name, 10, time.Second, time.Minute)).
		Complete(r)
}

// Reconcile brings one pool to its number.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	p := &v1.NodePool{}
	if err := r.Client.Get(ctx, req.NamespacedName, p); err != nil {
		return loop.Result(0, err)
	}
	if !p.Static() {
		return reconcile.Result{}, nil
	}
	w := r.Cluster.World()
	pool := w.Pool(world.PoolID{Kind: world.NodePool, Name: p.Name})
	if ok, _ := r.Cluster.Synced(); !ok || pool == nil || pool.Replicas == nil || int64(*pool.Replicas) != *p.Spec.Replicas {
		return reconcile.Result{RequeueAfter: unsynced}, nil
	}
	step := Next(w, pool)
	if step.Why != "" && r.news(p.Name, step.Held) {
		log.FromContext(ctx).Info("the pool cannot have all its replicas", "NodePool", p.Name, "missing", step.Held, "why", step.Why)
	}
	wait, err := r.ask(ctx, p.Name, step)
	errs := []error{err}
	for _, name := range step.Back {
		c := &v1.NodeClaim{}
		if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, c); err != nil {
			errs = append(errs, client.IgnoreNotFound(err))
			continue
		}
		errs = append(errs, r.Enact.Release(ctx, c, enact.Released))
	}
	if err := errors.Join(errs...); err != nil {
		return loop.Result(0, err)
	}
	switch {
	case wait > 0:
		return reconcile.Result{RequeueAfter: wait}, nil
	case step.Held > 0:
		return reconcile.Result{RequeueAfter: held}, nil
	}
	return reconcile.Result{RequeueAfter: again}, nil
}

// news reports whether a pool cannot have some of its machines, and that is
// another number than at the last look.
func (r *Reconciler) news(pool string, held int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lacks == nil {
		r.lacks = map[string]int{}
	}
	was := r.lacks[pool]
	if r.lacks[pool] = held; held == 0 {
		delete(r.lacks, pool)
	}
	return held > 0 && held != was
}

// ask asks for machines, unless those that were asked for lately have not come
// up: then it returns how long the pool has to wait.
func (r *Reconciler) ask(ctx context.Context, pool string, step Step) (time.Duration, error) {
	r.mu.Lock()
	patience := r.patience[pool]
	wait := r.Now.Until(patience.Until)
	switch {
	case step.Came:
		delete(r.patience, pool)
	case len(step.New) > 0 && wait <= 0:
		if r.patience == nil {
			r.patience = map[string]Patience{}
		}
		r.patience[pool] = patience.Asked(r.Now())
	}
	r.mu.Unlock()
	if len(step.New) == 0 || wait > 0 {
		return max(wait, 0), nil
	}
	_, err := r.Enact.Ask(ctx, step.New, enact.Provisioned)
	return 0, err
}
