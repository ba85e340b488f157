package terminate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/observe"
)

const (
	specName = "node.termination"
	// poll is how soon a node is looked at again although nothing was heard of it.
	poll = time.Second
	// maxPodsAge is how old the cluster state of a node's pods may be.
	maxPodsAge = 100 * time.Millisecond
	// forceful is why pods are evicted from a node that was simply deleted.
	forceful = "Forceful Termination"
)

// Spec is what the reconcilers of nodes and of claims touch.
func Spec() loop.Spec {
	return loop.Spec{
		Name: specName,
		Reads: []loop.Resource{
			loop.Of("", "nodes"), loop.Of("", "pods"), loop.Of(v1.Group, "nodeclaims"), loop.Of("storage.k8s.io", "volumeattachments"),
		},
		Writes: []loop.Write{
			loop.To("", "nodes", "patch", "delete"), loop.To("", "pods", "delete"), loop.To("", "pods/eviction", "create"),
			loop.To(v1.Group, "nodeclaims", "patch", "delete"), loop.To(v1.Group, "nodeclaims/status", "patch"),
			loop.To("", "events", "create", "patch"),
		},
	}
}

// Nodes ends nodes that are being deleted.
type Nodes struct {
	Client   client.Client
	Cluster  *cluster.Cluster
	Machines *Machines
	Evictor  *enact.Evictor
	Events   *loop.Events
	Metrics  *metric.Set
	Now      clock.Now
	Log      logr.Logger

	queue workqueue.TypedRateLimitingInterface[reconcile.Request]

	mu     sync.Mutex
	leaves map[string]leave // nodes that are being drained

	ages clock.Ages // of pods' ends and of deadlines, by node
}

// leave is what this process knows of a node that goes.
type leave struct {
	tainted time.Time
	drained bool
	unsaid  func(*v1.NodeClaim) // writes to its claim that the machine was ended; nil: that is written
}

// Register adds the reconciler to a manager. It must be called before the cluster state's sources start.
func (r *Nodes) Register(m ctrl.Manager) error {
	going := predicate.NewPredicateFuncs(func(o client.Object) bool {
		return o.GetDeletionTimestamp() != nil && controllerutil.ContainsFinalizer(o, v1.Finalizer)
	})
	woken := source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.queue = q
		return nil
	})
	r.Cluster.Listen(r.heard)
	return ctrl.NewControllerManagedBy(m).Named(specName).
		For(&corev1.Node{}).WithEventFilter(going).
		WatchesRawSource(woken).
		WithOptions(loop.Options(m, specName, 100, 100*time.Millisecond, 10*time.Second)).
		Complete(r)
}

// heard wakes the reconciler for a node whose pods come or go.
func (r *Nodes) heard(change cluster.Change) {
	if change.Kind != cluster.Pod {
		return
	}
	if change.Is == nil && change.Was != nil {
		r.Evictor.Forget(change.Was.UID)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range []*world.Pod{change.Was, change.Is} {
		if p == nil || r.queue == nil {
			continue
		}
		if _, ok := r.leaves[p.Node]; ok {
			r.queue.Add(reconcile.Request{NamespacedName: client.ObjectKey{Name: p.Node}})
		}
	}
}

// Reconcile does the next step for one node.
func (r *Nodes) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var n corev1.Node
	if err := r.Client.Get(ctx, req.NamespacedName, &n); err != nil {
		r.mu.Lock()
		delete(r.leaves, req.Name) // another node may get the name
		r.mu.Unlock()
		return loop.Result(0, err)
	}
	if n.DeletionTimestamp == nil || !controllerutil.ContainsFinalizer(&n, v1.Finalizer) {
		return reconcile.Result{}, nil
	}
	if ok, _ := r.Cluster.Synced(); !ok {
		return reconcile.Result{RequeueAfter: poll}, nil // without sight of all pods it must not be believed that there are none
	}
	claim, err := r.claim(ctx, &n)
	if err != nil {
		return loop.Result(0, err)
	}
	if err := r.tellEnd(ctx, &n, claim); err != nil {
		return loop.Result(0, err)
	}
	place := r.Cluster.Recent(maxPodsAge).Place(n.Name)
	if place == nil || place.Node == nil {
		// What runs on a node that the cluster state does not show, or not yet, cannot be
		// seen: it must not count as nothing.
		r.Events.Warning(&n, "FailedDraining", "Failed to drain node, its pods are not known yet; if this stays so, the controller's log says why the node cannot be read")
		return reconcile.Result{RequeueAfter: poll}, nil
	}
	seen, err := r.observe(ctx, &n, claim, place)
	if err != nil {
		return loop.Result(0, err)
	}
	return loop.Result(r.act(ctx, &n, claim, seen))
}

// claim returns the claim of a node, which goes with it; nil if there is none.
func (r *Nodes) claim(ctx context.Context, n *corev1.Node) (*v1.NodeClaim, error) {
	claims, err := loop.ClaimsAt(ctx, r.Client, n.Spec.ProviderID)
	if err != nil {
		return nil, err
	}
	for i := range claims {
		if err := r.Evictor.Release(ctx, &claims[i], enact.Released); err != nil {
			return nil, err
		}
	}
	if len(claims) == 0 {
		return nil, nil
	}
	return &claims[0], nil
}

// observe collects what the next step depends on. The cloud is asked only when
// its answer would matter.
func (r *Nodes) observe(ctx context.Context, n *corev1.Node, claim *v1.NodeClaim, place *world.Place) (Node, error) {
	seen := Node{
		Now: r.Now(), Ready: observe.Node(n, nil).Ready, Deadline: r.deadline(n, claim), Tainted: r.taintedSince(n), Pods: place.Pods, Dead: r.dead(n, place.Pods),
	}
	drained := !seen.Tainted.IsZero() && Next(seen) == End
	// A claim that went before its node registered has had its machine ended without a drain.
	seen.Ended = claim != nil && claim.Conditions().Is(v1.ConditionInstanceTerminating)
	var err error
	if drained {
		if seen.Attached, err = r.attached(ctx, n, seen); err != nil {
			return seen, err
		}
	}
	switch {
	case n.Spec.ProviderID == "":
		seen.Gone = true // whatever it was, no machine of ours
	case drained || seen.Ended || !seen.Ready:
		var found Found
		found, err = r.Machines.Look(ctx, n.Spec.ProviderID)
		seen.Gone = found.Gone || found.Left && drained
	}
	if err == nil || !drained {
		return seen, nil // a cloud that does not answer must not keep pods from leaving
	}
	return seen, r.refused(ctx, n, claim, seen, err)
}

// deadline is when the node goes, drained or not. What is left until then is
// counted: a clock that is set ahead must not end a machine under pods that have time.
func (r *Nodes) deadline(n *corev1.Node, claim *v1.NodeClaim) time.Time {
	at := Deadline(claim)
	if at.IsZero() {
		return at
	}
	return r.Now().Add(-r.ages.Since(r.Now, n.Name, "deadline", at))
}

// dead are pods that should have ended long ago. What has passed since is
// counted: a clock that is set ahead must not end a machine under pods that end properly.
func (r *Nodes) dead(n *corev1.Node, pods []*world.Pod) map[string]bool {
	out := map[string]bool{}
	for _, p := range pods {
		if p.Terminating && r.ages.Since(r.Now, n.Name, p.UID, time.Unix(p.Ends, 0)) > Stuck {
			out[p.UID] = true
		}
	}
	return out
}

// taintedSince is since when this process knows that a node is tainted. One
// that was marked before it was deleted is cordoned all the same.
func (r *Nodes) taintedSince(n *corev1.Node) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !tainted(n) {
		return time.Time{}
	}
	return r.leaves[n.Name].tainted
}

// known changes what this process knows of a node that goes.
func (r *Nodes) known(name string, change func(*leave)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaves == nil {
		r.leaves = map[string]leave{}
	}
	l := r.leaves[name]
	change(&l)
	r.leaves[name] = l
}

// attached counts the volumes that have to be detached. Those of pods that go
// down with the machine are not waited for.
func (r *Nodes) attached(ctx context.Context, n *corev1.Node, seen Node) (int, error) {
	var list storagev1.VolumeAttachmentList
	if err := r.Client.List(ctx, &list); err != nil {
		return 0, fmt.Errorf("list volume attachments of node %q: %w", n.Name, err)
	}
	stays := map[string]bool{}
	for _, p := range seen.Pods {
		if Stays(p) {
			for _, v := range p.Volumes {
				stays[v.ID] = true
			}
		}
	}
	var left []string
	for _, a := range list.Items {
		name := a.Spec.Source.PersistentVolumeName
		if a.Spec.NodeName == n.Name && name != nil && !stays[r.Cluster.VolumeID(*name)] {
			left = append(left, a.Name)
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		r.Events.Normal(n, "AwaitingVolumeDetachment", "Awaiting detachment of %d volume(s): %s", len(left), strings.Join(left[:min(len(left), 5)], ", "))
	}
	return len(left), nil
}

// act does the next step, and returns when to look again.
func (r *Nodes) act(ctx context.Context, n *corev1.Node, claim *v1.NodeClaim, seen Node) (time.Duration, error) {
	step := Next(seen)
	if !seen.Deadline.IsZero() {
		r.Events.Warning(n, "TerminationGracePeriodExpiring", "All pods will be deleted by %s", seen.Deadline.UTC().Format(time.RFC3339))
	}
	first := claim == nil || claim.Conditions().Get(v1.ConditionDrained) == nil
	if step == End {
		if waits, err := r.shared(ctx, n, seen); waits || err != nil {
			return poll, err
		}
		return recent, r.end(ctx, n, claim, seen)
	}
	if err := r.record(ctx, n, claim, step, seen); err != nil {
		return 0, err
	}
	switch step {
	case Taint:
		return r.taint(ctx, n, claim, seen, first)
	case Drain:
		r.drain(ctx, n, claim, seen)
		return poll, nil
	case Detach:
		return poll, nil
	case Release:
		return 0, r.release(ctx, n)
	case End: // done above
	}
	return 0, fmt.Errorf("node %q: unknown step %q", n.Name, step)
}

// shared reports whether another node of the same machine has pods that must leave first.
func (r *Nodes) shared(ctx context.Context, n *corev1.Node, seen Node) (bool, error) {
	nodes, err := loop.NodesAt(ctx, r.Client, n.Spec.ProviderID)
	if err != nil || seen.late() {
		return false, err
	}
	for i := range nodes {
		o := &nodes[i]
		place := r.Cluster.Recent(maxPodsAge).Place(o.Name)
		if o.UID == n.UID || place == nil {
			continue
		}
		if other := (Node{Pods: place.Pods, Dead: r.dead(o, place.Pods)}); len(other.remaining()) > 0 {
			r.Events.Warning(n, "FailedDraining", "Failed to drain node, node %s is of the same machine, and %d pod(s) are on it", o.Name, len(other.remaining()))
			return true, nil
		}
	}
	return false, nil
}

// end ends the machine of a node, and says in one write that it is drained and ending.
func (r *Nodes) end(ctx context.Context, n *corev1.Node, claim *v1.NodeClaim, seen Node) error {
	r.drained(n)
	found, err := r.Machines.End(ctx, n.Spec.ProviderID)
	tellOdd(r.Events, n, found)
	switch {
	case err != nil:
		return r.refused(ctx, n, claim, seen, err)
	case claim == nil:
		return nil
	}
	r.known(n.Name, func(l *leave) {
		l.unsaid = func(c *v1.NodeClaim) {
			progress(c, End, seen)
			if !found.Gone && !found.Left {
				c.Conditions().True(v1.ConditionInstanceTerminating, "", "", seen.Now)
			}
		}
	})
	return r.tellEnd(ctx, n, claim)
}

// tellEnd writes to the claim that its machine was ended, unless that is written. Where another has written the claim
// meanwhile the write is refused, and by the next look the machine may be gone and the node let go.
func (r *Nodes) tellEnd(ctx context.Context, n *corev1.Node, claim *v1.NodeClaim) error {
	r.mu.Lock()
	unsaid := r.leaves[n.Name].unsaid
	r.mu.Unlock()
	if unsaid == nil || claim == nil {
		return nil
	}
	if err := note(ctx, r.Client, r.Cluster, claim, unsaid); err != nil {
		return err
	}
	r.known(n.Name, func(l *leave) { l.unsaid = nil })
	return nil
}

// refused says on a drained node and its claim why the machine is not ended yet,
// and returns that.
func (r *Nodes) refused(ctx context.Context, n *corev1.Node, claim *v1.NodeClaim, seen Node, err error) error {
	tellRefused(r.Events, n, err)
	if claim == nil {
		return err
	}
	return errors.Join(err, note(ctx, r.Client, r.Cluster, claim, func(c *v1.NodeClaim) {
		progress(c, End, seen)
		Refused(c, err, seen.Now)
	}))
}

// tellOdd says what is odd about the machine of a node or claim that goes.
func tellOdd(events *loop.Events, of client.Object, found Found) {
	if found.Odd != "" {
		events.WarningEvery(15*time.Minute, of, "MachineNotMarked", found.Odd)
	}
}

// taint marks a node, and says so unless an earlier process has.
func (r *Nodes) taint(ctx context.Context, n *corev1.Node, claim *v1.NodeClaim, seen Node, first bool) (time.Duration, error) {
	next, err := r.Evictor.Taint(ctx, n)
	if err != nil {
		return 0, err
	}
	if first {
		r.Log.Info("Cordoned node", "node", n.Name)
	}
	seen.Tainted = r.Now()
	r.known(n.Name, func(l *leave) { *l = leave{tainted: seen.Tainted} })
	r.drain(ctx, next, claim, seen)
	return poll, nil
}

// drain evicts the pods that are next in the order of eviction.
func (r *Nodes) drain(ctx context.Context, n *corev1.Node, claim *v1.NodeClaim, seen Node) {
	leaving := Leave(seen)
	if leaving.Left > 0 && seen.Now.Sub(seen.Tainted) > 2*settle {
		r.Events.Warning(n, "FailedDraining", "%s", leaving.Waiting())
	}
	reason := forceful
	if claim != nil {
		if c := claim.Conditions().Get(v1.ConditionDisruptionReason); c != nil {
			reason = c.Reason
		}
	}
	for _, p := range leaving.Force {
		if err := r.Evictor.Force(ctx, p, Grace(p, seen.Now, seen.Deadline)); err != nil {
			r.Log.Error(err, "force pod")
		}
	}
	r.Evictor.Evict(ctx, n, leaving.Evict, reason)
}

// record writes to the claim how far its node has come.
func (r *Nodes) record(ctx context.Context, n *corev1.Node, claim *v1.NodeClaim, step Step, seen Node) error {
	if step == Detach {
		r.drained(n)
	}
	if claim == nil {
		return nil
	}
	return note(ctx, r.Client, r.Cluster, claim, func(c *v1.NodeClaim) { progress(c, step, seen) })
}

// progress writes the conditions that say how far the node of a claim has come.
func progress(c *v1.NodeClaim, step Step, seen Node) {
	v := c.Conditions()
	switch step {
	case Taint, Drain:
		// An empty node is drained a moment later: that is soon enough to write.
		if !v.Is(v1.ConditionDrained) && len(seen.remaining()) > 0 {
			v.Unknown(v1.ConditionDrained, v1.ReasonDraining, "", seen.Now)
		}
	case Detach:
		v.True(v1.ConditionDrained, "", "", seen.Now)
		v.Unknown(v1.ConditionVolumesDetached, v1.ReasonAwaitingVolumeDetachment, "", seen.Now)
	case End:
		v.True(v1.ConditionDrained, "", "", seen.Now)
		if seen.Attached > 0 {
			v.False(v1.ConditionVolumesDetached, v1.ReasonGracePeriodElapsed, "", seen.Now)
		} else {
			v.True(v1.ConditionVolumesDetached, "", "", seen.Now)
		}
	}
}

// drained counts a node that was drained to the end, once.
func (r *Nodes) drained(n *corev1.Node) {
	first := false
	r.known(n.Name, func(l *leave) { first, l.drained = !l.drained, true })
	if first {
		r.Metrics.Add(metric.NodesDrained, 1, loop.PoolName(n.Labels))
	}
}

// release lets go of a node whose machine is gone.
func (r *Nodes) release(ctx context.Context, n *corev1.Node) error {
	if _, err := loop.Patch(ctx, r.Client, n, func(n *corev1.Node) { controllerutil.RemoveFinalizer(n, v1.Finalizer) }); err != nil {
		return err
	}
	r.mu.Lock()
	delete(r.leaves, n.Name)
	r.mu.Unlock()
	r.ages.Forget(n.Name)
	r.Log.Info("Deleted node", "node", n.Name)
	pool := loop.PoolName(n.Labels)
	r.Metrics.Add(metric.NodesTerminated, 1, pool, n.Labels[v1.LabelZone])
	r.Metrics.Observe(metric.NodesTerminationDuration, r.Now.Since(n.DeletionTimestamp.Time).Seconds(), pool)
	r.Metrics.Observe(metric.NodesLifetimeDuration, r.Now.Since(n.CreationTimestamp.Time).Seconds(), pool)
	return nil
}

// note writes the status of a claim, and puts it into the cluster state.
func note(ctx context.Context, c client.Client, state *cluster.Cluster, claim *v1.NodeClaim, change func(*v1.NodeClaim)) error {
	next, err := loop.PatchStatus(ctx, c, claim, change)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	if next != claim {
		*claim = *next
		state.Wrote(next)
	}
	return nil
}
