package pool

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/loop"
)

const (
	// count is how soon after nodes changed their pools' counters are looked at.
	count = time.Second
	// unready is how soon a pool whose class is not ready is looked at again, whatever happens.
	unready = 30 * time.Second
)

// Spec is what the reconcilers of NodePools and Provisioners touch.
func Spec() loop.Spec {
	return loop.Spec{
		Name:  "nodepool.status",
		Reads: []loop.Resource{loop.Of(v1.Group, "nodepools"), loop.Of(v1.Group, "provisioners"), loop.Of(v1.Group, "nodeclaims"), loop.Of("", "nodes")},
		Writes: []loop.Write{
			loop.To(v1.Group, "nodepools", "patch"), loop.To(v1.Group, "nodepools/status", "patch"),
			loop.To(v1.Group, "provisioners/status", "patch"), loop.To(v1.Group, "nodeclaims", "patch"),
			loop.To("", "events", "create", "patch"),
		},
	}
}

// Classes says how the class of a pool stands.
type Classes func(context.Context, v1.NodeClassReference) (Class, error)

// NodePools keeps the status of NodePools.
type NodePools struct {
	Client  client.Client
	Cluster *cluster.Cluster
	Classes Classes
	// Kinds are the kinds of class that the API server has: a pool is looked at again when its class changes.
	Kinds  []client.Object
	Events *loop.Events
	Now    clock.Now
	Still  bool // no pods are moved

	began   time.Time // when it saw the first claim: one that stands by for another process sees none
	counted counter

	mu      sync.Mutex
	foreign map[string]bool // pools of which a claim has a hash that another version wrote
	health  map[types.UID]Health
	judged  map[types.UID]bool // claims this process has seen, and whether their outcome is known
}

// Register adds the reconciler to a manager. It must be called before the cluster state's sources start.
func (r *NodePools) Register(m ctrl.Manager) error {
	r.health, r.judged, r.foreign = map[types.UID]Health{}, map[types.UID]bool{}, map[string]bool{}
	b := ctrl.NewControllerManagedBy(m).Named(Spec().Name).
		For(&v1.NodePool{}).
		Watches(&v1.NodeClaim{}, loop.Mapped(r.Cluster.Panics, r.judge)).
		Watches(&v1.NodeClaim{}, loop.Mapped(r.Cluster.Panics, r.ofAnotherVersion)).
		WatchesRawSource(r.counted.changes(r.Cluster, world.NodePool)).
		WithOptions(loop.Options(m, Spec().Name, 10, 100*time.Millisecond, time.Minute))
	for _, kind := range r.Kinds {
		b = b.Watches(kind, loop.Mapped(r.Cluster.Panics, r.ofClass))
	}
	return b.Complete(r)
}

// ofClass maps a class to the pools that name it.
func (r *NodePools) ofClass(ctx context.Context, o client.Object) []reconcile.Request {
	var pools v1.NodePoolList
	if err := r.Client.List(ctx, &pools); err != nil {
		return nil // the cache does not fail but while it stops
	}
	var out []reconcile.Request
	for i := range pools.Items {
		if ref := pools.Items[i].Spec.Template.Spec.NodeClassRef; ref != nil && ref.Name == o.GetName() {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&pools.Items[i])})
		}
	}
	return out
}

// judge counts how the machine of a claim came up, and maps the claim to its pool if that is news.
func (r *NodePools) judge(_ context.Context, o client.Object) []reconcile.Request {
	c, ok := o.(*v1.NodeClaim)
	if !ok || c.Pool() == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.began.IsZero() {
		r.began = r.Now().Truncate(time.Second)
	}
	done, awaited := r.judged[c.UID]
	if done {
		return nil
	}
	if len(r.judged) > 100_000 { // counting an old success once more does no harm
		clear(r.judged)
	}
	decided := c.DeletionTimestamp != nil || c.Conditions().Is(v1.ConditionRegistered)
	r.judged[c.UID] = decided
	outcome, known := OutcomeOf(c, r.began, r.Now())
	if !decided || !known || outcome.Failed && !awaited { // what was leaving before we came, another has counted
		return nil
	}
	for _, owner := range c.OwnerReferences {
		if owner.Kind == world.NodePool {
			r.health[owner.UID] = r.health[owner.UID].With(outcome)
			return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: owner.Name}}}
		}
	}
	return nil
}

// Reconcile writes the status of one NodePool, and its hash.
func (r *NodePools) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	p := &v1.NodePool{}
	if err := r.Client.Get(ctx, req.NamespacedName, p); err != nil {
		return loop.Result(0, err)
	}
	if p.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	p, err := r.hash(ctx, p)
	if err != nil {
		return loop.Result(0, err)
	}
	seen := Seen{Now: r.Now(), Still: r.Still}
	if seen.Class, err = r.class(ctx, p); err != nil {
		return loop.Result(0, err)
	}
	seen.Health = r.healthOf(p, seen.Class)
	id, w := world.PoolID{Kind: world.NodePool, Name: p.Name}, r.Cluster.Recent(count)
	synced, _ := r.Cluster.Synced()
	if synced {
		seen.Used, seen.Waits = Usage(w)[id], waits(w, w.Pool(id))
	}
	next, err := loop.PatchStatus(ctx, r.Client, p, func(p *v1.NodePool) { Status(p, seen) })
	if err != nil {
		return loop.Result(0, err)
	}
	if synced {
		r.counted.shows(id, tally(w, id, seen.Used))
		r.warn(p, w.Pool(id), w)
	}
	if !next.Conditions().Is(v1.ConditionNodeClassReady) {
		return reconcile.Result{RequeueAfter: unready}, nil
	}
	return reconcile.Result{}, nil
}

// warn says that nothing can be bought of a pool, if that is so.
func (r *NodePools) warn(p *v1.NodePool, seen *world.Pool, w *world.World) {
	if seen == nil || seen.NotReady != "" {
		return
	}
	if why := Unsold(w, seen); why != "" {
		r.Events.WarningEvery(time.Minute, p, "NoCompatibleInstanceTypes", "NodePool "+why)
	}
}

func (r *NodePools) class(ctx context.Context, p *v1.NodePool) (Class, error) {
	ref := p.Spec.Template.Spec.NodeClassRef
	if ref == nil {
		return Class{Missing: true, Message: missing(nil)}, nil
	}
	c, err := r.Classes(ctx, *ref)
	if err == nil && c.Missing && c.Message == "" {
		c.Message = missing(ref)
	}
	return c, err
}

// healthOf is how the pool's last machines came up, as far as this process or the one before it knows.
func (r *NodePools) healthOf(p *v1.NodePool, class Class) Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.health == nil {
		r.health = map[types.UID]Health{}
	}
	was := p.Conditions().Get(v1.ConditionNodeRegistrationHealthy)
	if was != nil && (was.ObservedGeneration != p.Generation || p.Status.NodeClassObservedGeneration != class.Generation) {
		r.health[p.UID] = Health{} // what was learnt says nothing about what is asked for now
	}
	h, ok := r.health[p.UID]
	if !ok {
		h = HealthOf(p)
		r.health[p.UID] = h
	}
	return h
}

// hash writes to the pool, and where another version wrote them to its claims,
// by what one sees later that they would be made otherwise.
func (r *NodePools) hash(ctx context.Context, p *v1.NodePool) (*v1.NodePool, error) {
	if r.takeForeign(p.Name) || p.Annotations[v1.AnnotationPoolHashVersion] != v1.HashVersion {
		if err := r.rehash(ctx, p); err != nil {
			r.setForeign(p.Name)
			return p, err
		}
	}
	return loop.Patch(ctx, r.Client, p, func(p *v1.NodePool) { p.Annotations = hashed(p.Annotations, p.Hash()) })
}

// ofAnotherVersion maps a claim whose hash another version wrote to its pool: it may come after that has been marked.
func (r *NodePools) ofAnotherVersion(_ context.Context, o client.Object) []reconcile.Request {
	c, ok := o.(*v1.NodeClaim)
	if !ok || c.Pool() == "" || !otherVersion(c) {
		return nil
	}
	r.setForeign(c.Pool())
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: c.Pool()}}}
}

func otherVersion(c *v1.NodeClaim) bool {
	return c.Annotations[v1.AnnotationPoolHash] != "" && c.Annotations[v1.AnnotationPoolHashVersion] != v1.HashVersion
}

func (r *NodePools) setForeign(pool string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.foreign == nil {
		r.foreign = map[string]bool{}
	}
	r.foreign[pool] = true
}

func (r *NodePools) takeForeign(pool string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	is := r.foreign[pool]
	delete(r.foreign, pool)
	return is
}

func hashed(annotations map[string]string, hash string) map[string]string {
	out := maps.Clone(annotations)
	if out == nil {
		out = map[string]string{}
	}
	out[v1.AnnotationPoolHash], out[v1.AnnotationPoolHashVersion] = hash, v1.HashVersion
	return out
}

// rehash gives claims of another version the pool's hash as it is today. A
// claim that has drifted keeps what it had.
func (r *NodePools) rehash(ctx context.Context, p *v1.NodePool) error {
	var claims v1.NodeClaimList // not copied: a patch begins with a copy
	if err := r.Client.List(ctx, &claims, client.MatchingLabels{v1.LabelNodePool: p.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("claims of pool %q: %w", p.Name, err)
	}
	for i := range claims.Items {
		c := &claims.Items[i]
		if !otherVersion(c) {
			continue
		}
		hash := p.Hash()
		if c.Conditions().Is(v1.ConditionDrifted) {
			hash = c.Annotations[v1.AnnotationPoolHash]
		}
		if _, err := loop.Patch(ctx, r.Client, c, func(c *v1.NodeClaim) { c.Annotations = hashed(c.Annotations, hash) }); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// Provisioners keeps the status of Provisioners.
type Provisioners struct {
	Client  client.Client
	Cluster *cluster.Cluster
	Now     clock.Now

	counted counter
}

// Register adds the reconciler to a manager. It must be called before the cluster state's sources start.
func (r *Provisioners) Register(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).Named("provisioner.status").
		For(&v1alpha5.Provisioner{}).
		WatchesRawSource(r.counted.changes(r.Cluster, world.Provisioner)).
		WithOptions(loop.Options(m, "provisioner.status", 10, 100*time.Millisecond, time.Minute)).
		Complete(r)
}

// Reconcile writes the status of one Provisioner, if there is anything to say.
func (r *Provisioners) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	p := &v1alpha5.Provisioner{}
	if err := r.Client.Get(ctx, req.NamespacedName, p); err != nil {
		return loop.Result(0, err)
	}
	if ok, _ := r.Cluster.Synced(); !ok || p.DeletionTimestamp != nil {
		return reconcile.Result{}, nil // once it is synced the counter calls again
	}
	id, w := world.PoolID{Kind: world.Provisioner, Name: p.Name}, r.Cluster.Recent(count)
	used, not := Usage(w)[id], Obstacle{}
	if seen := w.Pool(id); seen != nil {
		not = Obstacle{Ready: seen.NotReady, Yet: waits(w, seen)}
	}
	_, err := loop.PatchStatus(ctx, r.Client, p, func(p *v1alpha5.Provisioner) { StatusOfProvisioner(p, used, not, Scaled(w, id), r.Now()) })
	if err == nil {
		r.counted.shows(id, tally(w, id, used))
	}
	return loop.Result(0, err)
}
