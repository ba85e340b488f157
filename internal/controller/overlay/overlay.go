// Package overlay writes to the status of NodeOverlays whether they apply. What they do is done in the state of the cluster.
package overlay

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/loop"
)

// unseen is how soon an overlay is looked at again that the cluster state does not show yet.
const unseen = time.Second

// Spec is what this reconciler touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:   "nodeoverlay.controller",
		Reads:  []loop.Resource{loop.Of(v1.Group, "nodeoverlays")},
		Writes: []loop.Write{loop.To(v1.Group, "nodeoverlays/status", "patch")},
	}
}

// State says how overlays stand.
type State interface {
	Overlay(name string) (cluster.Verdict, bool)
	Synced() (ok bool, since time.Time)
	Listen(func(cluster.Change))
}

// Reconciler keeps the conditions of NodeOverlays.
type Reconciler struct {
	Client  client.Client
	Cluster State
	Now     clock.Now
}

// Register adds the reconciler to a manager. It must be called before the cluster state's sources start.
func (r *Reconciler) Register(m ctrl.Manager) error {
	changes := make(chan string, 1024)
	r.Cluster.Listen(func(change cluster.Change) {
		if change.Kind != cluster.Overlay {
			return
		}
		select {
		case changes <- change.Name:
		default: // it is looked at again anyway, a little later
		}
	})
	return ctrl.NewControllerManagedBy(m).Named(Spec().Name).
		Watches(&v1alpha1.NodeOverlay{}, &handler.EnqueueRequestForObject{}).
		WatchesRawSource(changed(changes)).
		WithOptions(loop.Options(m, Spec().Name, 1, time.Second, time.Minute)).
		Complete(r)
}

// changed enqueues the overlays whose names come.
func changed(names <-chan string) source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case name := <-names:
					queue.Add(reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
				}
			}
		}()
		return nil
	})
}

// lookEvery is how often an overlay is looked at whatever happens.
const lookEvery = 5 * time.Minute

// Reconcile writes the conditions of one overlay.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	o := &v1alpha1.NodeOverlay{}
	if err := r.Client.Get(ctx, req.NamespacedName, o); err != nil {
		return loop.Result(0, err)
	}
	verdict, seen := r.Cluster.Overlay(o.Name)
	if ok, _ := r.Cluster.Synced(); !ok || !seen || verdict.Generation < o.Generation {
		return reconcile.Result{RequeueAfter: unseen}, nil
	}
	if verdict.Generation > o.Generation {
		return reconcile.Result{}, nil // the cache is behind, and will call again
	}
	_, err := loop.PatchStatus(ctx, r.Client, o, func(o *v1alpha1.NodeOverlay) { Status(o, verdict, r.Now()) })
	return loop.Result(lookEvery, err)
}

// Status writes a verdict to an overlay.
func Status(o *v1alpha1.NodeOverlay, v cluster.Verdict, now time.Time) {
	switch c := o.Conditions(); {
	case v.Wrong != "":
		c.False(v1alpha1.ConditionValidationSucceeded, v1alpha1.ReasonRuntimeValidation, v.Wrong, now)
	case v.Against != "":
		c.False(v1alpha1.ConditionValidationSucceeded, v1alpha1.ReasonConflict,
			fmt.Sprintf("it sets what NodeOverlay %q of the same weight sets too: give one of them another weight, or let them select different machines", v.Against), now)
	default:
		c.True(v1alpha1.ConditionValidationSucceeded, "", "", now)
	}
}
