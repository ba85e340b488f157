package liveness

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
)

// Spec is what this reconciler touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:   "nodeclaim.liveness",
		Reads:  []loop.Resource{loop.Of(v1.Group, "nodeclaims")},
		Writes: []loop.Write{loop.To(v1.Group, "nodeclaims", "delete")},
	}
}

// Reconciler gives up claims that take too long.
type Reconciler struct {
	Client client.Client
	Enact  *enact.Enactor
	Now    clock.Now

	InitializeWithin time.Duration // which a registered node has to be initialized; zero: for ever

	waits clock.Ages // of claims, by name
}

// Register adds the reconciler to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).Named(Spec().Name).
		For(&v1.NodeClaim{}).
		WithOptions(loop.Options(m, Spec().Name, 10, time.Second, time.Minute)).
		Complete(r)
}

// Reconcile takes the step that is due for one claim.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c := &v1.NodeClaim{}
	if err := r.Client.Get(ctx, req.NamespacedName, c); err != nil {
		if apierrors.IsNotFound(err) {
			r.waits.Forget(req.Name)
		}
		return loop.Result(0, err)
	}
	step := Next(c, r.waits.Waited(r.Now, c.Name, string(c.UID), Began(c)), r.InitializeWithin)
	if step.GiveUp != "" {
		return loop.Result(0, r.Enact.Release(ctx, c, step.GiveUp))
	}
	return loop.Result(step.Again, nil)
}
