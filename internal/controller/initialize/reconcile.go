package initialize

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/loop"
)

const (
	// lasting is how long a node waits for the same thing before that is written
	// down: many are ready before, and a write for each step would be the larger
	// part of all that is written about a claim.
	lasting = 10 * time.Second
	// compareEvery is how often a node in use is compared with what was bought.
	compareEvery = 10 * time.Minute
	// unwatched is how often devices are looked for, which are not watched.
	unwatched = 2 * time.Second
)

// Spec is what this reconciler touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:  "nodeclaim.initialization",
		Reads: []loop.Resource{loop.Of(v1.Group, "nodeclaims"), loop.Of("", "nodes"), loop.Of("resource.k8s.io", "resourceslices")},
		Writes: []loop.Write{
			loop.To(v1.Group, "nodeclaims/status", "patch"), loop.To("", "nodes", "patch"), loop.To("", "events", "create", "patch"),
		},
	}
}

// Reconciler says when nodes can take pods.
type Reconciler struct {
	Client  client.Client
	Live    client.Reader // without a cache
	Cluster *cluster.Cluster
	Events  *loop.Events
	Now     clock.Now

	mu    sync.Mutex
	waits map[string]waiting // by the claim's name
}

// waiting is what a node waits for, and since when.
type waiting struct {
	step  Step
	since time.Time
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
		r.forget(req.Name)
		return loop.Result(0, err)
	}
	n, err := r.node(ctx, c)
	if err != nil {
		return loop.Result(0, err)
	}
	step := Next(c, n)
	if step.Kind == Done && c.Annotations[v1.AnnotationRequestedDRADrivers] != "" {
		if step, err = r.devices(ctx, c, n); err != nil {
			return loop.Result(0, err)
		}
	}
	if step.Kind != Wait {
		r.forget(req.Name)
	}
	switch step.Kind {
	case Wait:
		next, err := r.wait(ctx, c, step)
		if step.Reason == v1.ReasonDRADriversNotPublished {
			next = unwatched
		}
		return loop.Result(next, err)
	case Done:
		return loop.Result(compareEvery, r.done(ctx, c, n))
	case Compare:
		missing := r.missing(c, n)
		return loop.Result(compareEvery, r.say(ctx, c, func(c *v1.NodeClaim) { compare(c, missing, r.Now()) }))
	case Nothing:
	}
	return reconcile.Result{}, nil
}

// node is the node of a claim; nil if there is none.
func (r *Reconciler) node(ctx context.Context, c *v1.NodeClaim) (*corev1.Node, error) {
	if c.Status.NodeName == "" {
		return nil, nil
	}
	n := &corev1.Node{}
	err := r.Client.Get(ctx, client.ObjectKey{Name: c.Status.NodeName}, n)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return n, err
}

// wait writes what a node waits for once it has lasted, and returns when to look again.
func (r *Reconciler) wait(ctx context.Context, c *v1.NodeClaim, step Step) (time.Duration, error) {
	r.mu.Lock()
	if r.waits == nil {
		r.waits = map[string]waiting{}
	}
	w, ok := r.waits[c.Name]
	if !ok || w.step != step {
		w = waiting{step, r.Now()}
		r.waits[c.Name] = w
	}
	r.mu.Unlock()
	if left := w.since.Add(lasting).Sub(r.Now()); left > 0 {
		return left, nil
	}
	return 0, r.say(ctx, c, func(c *v1.NodeClaim) {
		c.Conditions().Unknown(v1.ConditionInitialized, step.Reason, step.Message, r.Now())
	})
}

func (r *Reconciler) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waits, name)
}

// done says on a node and its claim that it can take pods, and whether it has what was bought.
func (r *Reconciler) done(ctx context.Context, c *v1.NodeClaim, n *corev1.Node) error {
	_, err := loop.Merge(ctx, r.Client, n, func(n *corev1.Node) { metav1.SetMetaDataLabel(&n.ObjectMeta, v1.LabelInitialized, "true") })
	if err != nil {
		return err
	}
	missing := r.missing(c, n)
	err = r.say(ctx, c, func(c *v1.NodeClaim) {
		c.Conditions().True(v1.ConditionInitialized, "", "", r.Now())
		compare(c, missing, r.Now())
	})
	if err == nil {
		log.FromContext(ctx).Info("initialized nodeclaim", "NodeClaim", c.Name, "provider-id", c.Status.ProviderID, "Node", n.Name, "allocatable", n.Status.Allocatable)
	}
	return err
}

// missing is what a node has less than was bought, for the claim's status.
func (r *Reconciler) missing(c *v1.NodeClaim, n *corev1.Node) []string {
	out := Missing(c, n)
	for _, m := range out {
		r.Events.Warning(c, "FailedConsistencyCheck", "%s", m)
	}
	return out
}

func (r *Reconciler) say(ctx context.Context, c *v1.NodeClaim, change func(*v1.NodeClaim)) error {
	next, err := loop.PatchStatus(ctx, r.Client, c, change)
	if err == nil && next.ResourceVersion != c.ResourceVersion {
		r.Cluster.Wrote(next)
	}
	return err
}
