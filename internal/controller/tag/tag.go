// Package tag names machines for people, and for lists after a crash, once their nodes have registered.
package tag

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/loop"
)

// Spec is what this reconciler touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:   "nodeclaim.tagging",
		Reads:  []loop.Resource{loop.Of(v1.Group, "nodeclaims")},
		Writes: []loop.Write{loop.To(v1.Group, "nodeclaims", "patch"), loop.To("", "events", "create", "patch")},
	}
}

// Reconciler tags machines.
type Reconciler struct {
	Client client.Client
	Events *loop.Events
	Now    clock.Now
	// Tag writes to a machine which claim and which node are its.
	Tag func(ctx context.Context, id cloud.MachineID, claim, node string) error
	// IDOf returns the machine of a provider id.
	IDOf func(providerID string) (cloud.MachineID, bool)

	trials cloud.Trials // by claim

	mu     sync.Mutex
	tagged map[client.ObjectKey]string // what was tagged, whose claims the cache does not show as tagged yet
}

// once reports whether a machine was not tagged for a claim before.
func (r *Reconciler) once(claim client.ObjectKey, id cloud.MachineID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tagged[claim] != string(id)
}

// note takes down which machine was tagged for a claim; none: the claim shows it.
func (r *Reconciler) note(claim client.ObjectKey, id cloud.MachineID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tagged == nil {
		r.tagged = map[client.ObjectKey]string{}
	}
	r.tagged[claim] = string(id)
	if id == "" {
		delete(r.tagged, claim)
	}
}

// Register adds the reconciler to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).Named(Spec().Name).
		For(&v1.NodeClaim{}).
		WithOptions(loop.Options(m, Spec().Name, 4, time.Second, 5*time.Minute)).
		Complete(r)
}

// Due reports whether the machine of a claim has to be tagged.
func Due(c *v1.NodeClaim) bool {
	return c.DeletionTimestamp == nil && c.Status.ProviderID != "" && c.Conditions().Is(v1.ConditionRegistered) && c.Annotations[awsv1.AnnotationTagged] != "true"
}

// Reconcile tags the machine of one claim, once.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c := &v1.NodeClaim{}
	if err := r.Client.Get(ctx, req.NamespacedName, c); err != nil {
		r.trials.Over(req.Name)
		r.note(req.NamespacedName, "")
		return loop.Result(0, err)
	}
	id, ok := r.IDOf(c.Status.ProviderID)
	if !ok || !Due(c) {
		r.note(req.NamespacedName, "")
		return reconcile.Result{}, nil
	}
	if r.once(req.NamespacedName, id) {
		err := r.trials.Try(c.Name, r.Now, func() error { return r.Tag(ctx, id, c.Name, c.Status.NodeName) })
		if err != nil {
			if cloud.Lasts(err) {
				r.Events.Warning(c, "TaggingDelayed", "The machine cannot be tagged: %v", err)
			}
			return loop.Result(0, err)
		}
		r.note(req.NamespacedName, id)
	}
	// It is written here alone, and while a node starts other controllers write to its claim all the time.
	_, err := loop.Merge(ctx, r.Client, c, func(c *v1.NodeClaim) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, awsv1.AnnotationTagged, "true") })
	return loop.Result(0, err)
}
