package enact

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/backoff"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/parallel"
)

// Taint marks a node as going, so that no further pod is placed on it and load
// balancers let go of it. Nodes of a Provisioner are cordoned too: that is how
// one sees there that they go.
func (e *Enactor) Taint(ctx context.Context, n *corev1.Node) (*corev1.Node, error) {
	next := tainted(n)
	if n.DeletionTimestamp != nil && n.Labels[v1alpha5.LabelProvisioner] != "" {
		next.Spec.Unschedulable = true
	}
	if err := e.patchNode(ctx, n, next); err != nil {
		return n, fmt.Errorf("taint node %q: %w", n.Name, err)
	}
	return next, nil
}

// tainted is the node with the mark.
func tainted(n *corev1.Node) *corev1.Node {
	next := n.DeepCopy()
	next.Spec.Taints = nil
	for _, t := range n.Spec.Taints {
		if t.Key != v1.TaintDisrupted {
			next.Spec.Taints = append(next.Spec.Taints, t)
		}
	}
	next.Spec.Taints = append(next.Spec.Taints, corev1.Taint{Key: v1.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule})
	set(&next.Labels, v1.LabelExcludeBalancers, v1.ExcludedByUs)
	return next
}

// Mark taints a node that is to go once its pods have other places, and says on it which of them
// are to go where: the next process knows what was meant.
func (e *Enactor) Mark(ctx context.Context, n *corev1.Node, moves []world.Move) error {
	meant := n.DeepCopy()
	if len(moves) > 0 {
		set(&meant.Annotations, annotation.Moves, annotation.MovesText(moves))
	}
	if err := e.patchNode(ctx, n, tainted(meant)); err != nil {
		return fmt.Errorf("mark node %q: %w", n.Name, err)
	}
	return nil
}

// Untaint takes the mark from a node that stays after all.
func (e *Enactor) Untaint(ctx context.Context, n *corev1.Node) error {
	next := n.DeepCopy()
	next.Spec.Taints = nil
	for _, t := range n.Spec.Taints {
		if t.Key != v1.TaintDisrupted {
			next.Spec.Taints = append(next.Spec.Taints, t)
		}
	}
	if next.Labels[v1.LabelExcludeBalancers] == v1.ExcludedByUs {
		delete(next.Labels, v1.LabelExcludeBalancers)
	}
	delete(next.Annotations, annotation.Moves)
	if len(next.Spec.Taints) == len(n.Spec.Taints) && len(next.Labels) == len(n.Labels) && len(next.Annotations) == len(n.Annotations) {
		return nil
	}
	if err := e.patchNode(ctx, n, next); err != nil {
		return fmt.Errorf("untaint node %q: %w", n.Name, err)
	}
	return nil
}

// patchNode writes taints as they are meant: a list replaces a list, so the
// write fails when the node has changed meanwhile. Nothing is written when they are so already.
func (e *Enactor) patchNode(ctx context.Context, was, next *corev1.Node) error {
	if equality.Semantic.DeepEqual(was, next) {
		return nil
	}
	return e.Client.Patch(ctx, next, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
}

// Evictor asks pods to leave. It waits longer after each refusal of a pod, so
// that a budget that allows nothing costs little.
type Evictor struct {
	*Enactor

	mu    sync.Mutex
	tries backoff.Keyed[string] // by pod UID
}

// The waits between two tries to evict the same pod.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 10 * time.Second
	// evictionTimeout is how long one eviction may take: the client would wait much
	// longer by itself where the API server asks it to come again.
	evictionTimeout = 3 * time.Second
)

// NewEvictor returns an Evictor over e.
func NewEvictor(e *Enactor) *Evictor {
	return &Evictor{Enactor: e, tries: backoff.Keyed[string]{First: firstWait, Last: lastWait}}
}

// Evict asks pods to leave, each when its wait is over.
func (e *Evictor) Evict(ctx context.Context, node *corev1.Node, pods []*world.Pod, reason string) {
	parallel.Do(parallel.Writes, e.due(pods), func(_ int, p *world.Pod) {
		e.teller().Do(where, func() { e.evictOne(ctx, node, p, reason) }, "Pod", p.String())
	})
}

// evictOne asks one pod to leave, and reports what came of it.
func (e *Evictor) evictOne(ctx context.Context, node *corev1.Node, p *world.Pod, reason string) {
	err := e.evict(ctx, p)
	code := "200"
	var s apierrors.APIStatus
	switch {
	case errors.As(err, &s):
		code = strconv.Itoa(int(s.Status().Code))
	case err != nil:
		code = "0" // no answer
	}
	e.Metrics.Add(metric.PodsEvictionRequests, 1, code)
	switch {
	case err == nil:
		e.forget(p.UID)
		e.Events.Normal(podRef(p), "Evicted", "Evicted pod: %s", reason)
		e.Metrics.Add(metric.PodsDrained, 1, reason)
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		e.forget(p.UID)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause): // its namespace goes, and takes it along
	case errors.Is(err, context.DeadlineExceeded):
		e.Events.Warning(node, "FailedDraining", "evicting pod %s: the API server has not answered within %s, because it is busy or still works out what a disruption budget allows; it is asked again", p.Key, evictionTimeout)
	case apierrors.IsTooManyRequests(err), apierrors.IsInternalError(err) && strings.Contains(err.Error(), "PodDisruptionBudget"):
		e.Events.Warning(node, "FailedDraining", "evicting pod violates a disruption budget: %s: %v", p.Key, err)
	case s != nil: // a webhook or a policy of others
		e.Events.Warning(node, "FailedDraining", "evicting pod %s is refused, and tried again: %v", p.Key, err)
		e.Log.Error(err, "evict pod", "Pod", p.Key.String())
	default:
		e.Log.Error(err, "evict pod", "Pod", p.Key.String())
	}
}

// due are the pods whose wait is over; it doubles their next wait.
func (e *Evictor) due(pods []*world.Pod) []*world.Pod {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.Now()
	var out []*world.Pod
	for _, p := range pods {
		if !e.tries.Waits(p.UID, now) {
			e.tries.Failed(p.UID, now) // unless it leaves
			out = append(out, p)
		}
	}
	return out
}

func (e *Evictor) forget(uid string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tries.Forget(uid)
}

// Forget drops what is known of pods that are gone.
func (e *Evictor) Forget(uid string) { e.forget(uid) }

func (e *Evictor) evict(ctx context.Context, p *world.Pod) error {
	uid := types.UID(p.UID)
	ctx, stop := context.WithTimeout(ctx, evictionTimeout)
	defer stop()
	return e.Client.SubResource("eviction").Create(ctx, podRef(p), &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
	})
}

// Force deletes a pod that may not stay any longer, with what grace is left.
func (e *Evictor) Force(ctx context.Context, p *world.Pod, grace time.Duration) error {
	uid := types.UID(p.UID)
	seconds := max(int64(grace/time.Second), 1)
	err := e.Client.Delete(ctx, podRef(p), client.GracePeriodSeconds(seconds), client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete pod %s: %w", p.Key, err)
	}
	e.Events.Normal(podRef(p), "Disrupted", "Deleting the pod: its node has to be gone soon; it is granted %ds of its %ds grace and bypasses disruption budgets", seconds, p.Disruption.Grace)
	return nil
}

// podRef is a pod as far as calls and events need it.
func podRef(p *world.Pod) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: types.UID(p.UID)},
	}
}
