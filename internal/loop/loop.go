package loop

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// conflict is how soon a reconciler comes again whose write met a newer object,
// unless the watch shows it before.
const conflict = 250 * time.Millisecond

// Result is the answer of a reconciler: come again after a while, or err. An
// object that is gone needs nothing; one that has changed is looked at again soon.
func Result(again time.Duration, err error) (reconcile.Result, error) {
	switch {
	case err == nil:
		return reconcile.Result{RequeueAfter: again}, nil
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: conflict}, nil
	}
	return reconcile.Result{}, err
}

// Options are those of a controller of a manager that works on so many objects
// at a time and backs off between low and high for each that fails. What it
// does to an object is logged with its name and the object's; that it starts is
// said to those who debug.
func Options(m manager.Manager, name string, atATime int, low, high time.Duration) controller.Options {
	log := m.GetLogger().WithValues("controller", name)
	return controller.Options{
		MaxConcurrentReconciles: atATime,
		LogConstructor: func(r *reconcile.Request) logr.Logger {
			if r == nil {
				return log.V(1)
			}
			return log.WithValues("name", r.Name)
		},
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](low, high),
	}
}

// Patch changes an object by what change does to a copy of it, and returns
// what the API server answered. Nothing is sent when nothing changed. The write
// fails when the object has changed meanwhile.
func Patch[T client.Object](ctx context.Context, c client.Client, o T, change func(T)) (T, error) {
	return patch(o, change, func(next T, p client.Patch) error { return c.Patch(ctx, next, p) })
}

// Merge is Patch that does not mind what others have changed meanwhile. It is
// for maps of which the caller owns the keys it changes.
func Merge[T client.Object](ctx context.Context, c client.Client, o T, change func(T)) (T, error) {
	return write(o, change, func(next, was T) error { return c.Patch(ctx, next, client.MergeFrom(was)) })
}

// PatchStatus is Patch for the status of an object.
func PatchStatus[T client.Object](ctx context.Context, c client.Client, o T, change func(T)) (T, error) {
	return patch(o, change, func(next T, p client.Patch) error { return c.Status().Patch(ctx, next, p) })
}

func patch[T client.Object](o T, change func(T), send func(T, client.Patch) error) (T, error) {
	return write(o, change, func(next, was T) error {
		return send(next, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
	})
}

// write sends a changed copy of an object, if there is anything to send.
func write[T client.Object](o T, change func(T), send func(next, was T) error) (T, error) {
	next, ok := o.DeepCopyObject().(T)
	if !ok {
		return o, fmt.Errorf("copy of %T is of another type", o)
	}
	change(next)
	if equality.Semantic.DeepEqual(o, next) {
		return o, nil
	}
	if err := send(next, o); err != nil {
		return o, err
	}
	return next, nil
}
