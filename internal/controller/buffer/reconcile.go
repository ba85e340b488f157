package buffer

import (
	"cmp"
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tenon-sh/tenon/api/autoscaling/v1beta1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/panics"
)

const (
	// lookEvery is how soon a change of what a buffer refers to is seen. Templates and workloads are read one by one:
	// to watch all Deployments of a cluster for a few buffers would cost more memory than the pods do.
	lookEvery = 10 * time.Second
	// lookEveryUnmet is the same while the room is not there: the plan is made within seconds.
	lookEveryUnmet = 2 * time.Second
)

// Spec is what this reconciler touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name: "capacitybuffer",
		Reads: []loop.Resource{
			loop.Of(v1beta1.Group, "capacitybuffers"), loop.Of("", "podtemplates"),
			loop.Of("apps", "deployments"), loop.Of("apps", "replicasets"), loop.Of("apps", "statefulsets"),
		},
		Writes: []loop.Write{loop.To(v1beta1.Group, "capacitybuffers/status", "patch")},
	}
}

// State takes virtual pods, and shows where they have room.
type State interface {
	SetBuffer(k world.Key, pods []world.Pod)
	DeleteBuffer(k world.Key)
	Admitted(p *corev1.Pod) *corev1.Pod
	Recent(age time.Duration) *world.World
	Delivered(source string)
}

// Reconciler follows CapacityBuffers.
type Reconciler struct {
	Client  client.Client
	Live    client.Reader // past the cache: templates and workloads are not watched
	Cluster State
	Source  string // under which the cluster state waits for the buffers there are
	Now     clock.Now
	Panics  panics.Teller // logs and counts buffers that break our code

	elected <-chan struct{} // closed once this process leads
}

// Register adds the reconciler to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	if err := m.Add(r); err != nil {
		return err
	}
	r.elected = m.Elected()
	o := loop.Options(m, Spec().Name, 10, time.Second, time.Minute)
	o.NeedLeaderElection = new(false) // a replica that may lead next has the same state
	return ctrl.NewControllerManagedBy(m).Named(Spec().Name).
		Watches(&v1beta1.CapacityBuffer{}, &handler.EnqueueRequestForObject{}).
		WithOptions(o).
		Complete(r)
}

// NeedLeaderElection is false: every process has the cluster state.
func (r *Reconciler) NeedLeaderElection() bool { return false }

// Start resolves the buffers that are there. Until that is done, machines that hold room for them would look empty.
func (r *Reconciler) Start(ctx context.Context) error {
	tick := time.NewTicker(lookEveryUnmet)
	defer tick.Stop()
	for {
		all := &v1beta1.CapacityBufferList{}
		err := r.Live.List(ctx, all)
		for i := range all.Items {
			// Of a buffer that cannot be resolved the reconciler writes so: it is called for each of them as well.
			// One that breaks our code is not waited for: every process would end of it here, one after the other.
			b := &all.Items[i]
			r.Panics.Do(Spec().Name, func() { _, _ = r.resolve(ctx, b) }, "object", b.Namespace+"/"+b.Name)
		}
		if err == nil {
			r.Cluster.Delivered(r.Source)
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// leads reports whether this process may write.
func (r *Reconciler) leads() bool {
	select {
	case <-r.elected:
		return true
	default:
		return false
	}
}

// Reconcile resolves one buffer and writes its status.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	key := world.Key{Namespace: req.Namespace, Name: req.Name}
	b := &v1beta1.CapacityBuffer{}
	if err := r.Client.Get(ctx, req.NamespacedName, b); err != nil {
		if apierrors.IsNotFound(err) {
			r.Cluster.DeleteBuffer(key)
		}
		return loop.Result(0, err)
	}
	if b.DeletionTimestamp != nil {
		r.Cluster.DeleteBuffer(key)
		return reconcile.Result{}, nil
	}
	resolved, err := r.resolve(ctx, b)
	switch {
	case err != nil:
		return reconcile.Result{}, err // the room that is held stays held
	case !r.leads():
		return reconcile.Result{RequeueAfter: lookEvery}, nil
	}
	b, err = loop.PatchStatus(ctx, r.Client, b, func(b *v1beta1.CapacityBuffer) {
		Status(b, resolved, RoomOf(r.Cluster.Recent(time.Second), key, resolved.Size), r.Now())
	})
	return loop.Result(due(b), err)
}

// resolve reads what a buffer refers to, and has the cluster state hold as much room.
func (r *Reconciler) resolve(ctx context.Context, b *v1beta1.CapacityBuffer) (Resolved, error) {
	key := world.Key{Namespace: b.Namespace, Name: b.Name}
	from, out, err := r.refers(ctx, b)
	switch {
	case err != nil:
		return out, fmt.Errorf("read what CapacityBuffer %s refers to: %w", key, err)
	case out.Reason != "":
		r.Cluster.DeleteBuffer(key)
		return out, nil
	}
	pod := r.Cluster.Admitted(observe.BufferPod(b, from.template))
	out.Size, out.Bounded = observe.BufferSize(b, pod, from.replicas)
	if out.Size == 0 {
		out.Empty = observe.WhyEmpty(b, pod, from.replicas)
	}
	r.Cluster.SetBuffer(key, observe.VirtualPods(b, pod, out.Size))
	return out, nil
}

// reference is what a buffer refers to.
type reference struct {
	template *corev1.PodTemplateSpec
	replicas *int32 // of a workload
}

// refers reads it. Resolved says what is not there, or can never be read.
func (r *Reconciler) refers(ctx context.Context, b *v1beta1.CapacityBuffer) (reference, Resolved, error) {
	if ref := b.Spec.PodTemplateRef; ref != nil {
		t := &corev1.PodTemplate{}
		out := Resolved{Reason: v1beta1.ReasonPodTemplateNotFound, Message: fmt.Sprintf("there is no PodTemplate %s in namespace %s", ref.Name, b.Namespace)}
		if ok, err := r.read(ctx, b.Namespace, ref.Name, t); !ok {
			return reference{}, out, err
		}
		return reference{template: &t.Template}, Resolved{Template: ref, Generation: &t.Generation}, nil
	}
	ref := b.Spec.ScalableRef
	if ref == nil {
		return reference{}, Resolved{Reason: v1beta1.ReasonResolutionFailed, Message: "spec names neither a podTemplateRef nor a scalableRef: give one of them"}, nil
	}
	kind, known := workloads()[ref.Kind]
	if group := cmp.Or(ref.APIGroup, appsv1.GroupName); group != appsv1.GroupName || !known {
		return reference{}, Resolved{
			Reason:  v1beta1.ReasonResolutionFailed,
			Message: fmt.Sprintf("spec.scalableRef is of kind %s in group %s: it can be a Deployment, StatefulSet or ReplicaSet of apps", ref.Kind, group),
		}, nil
	}
	out := Resolved{Reason: v1beta1.ReasonScalableRefNotFound, Message: fmt.Sprintf("there is no %s %s in namespace %s", ref.Kind, ref.Name, b.Namespace)}
	o := kind()
	if ok, err := r.read(ctx, b.Namespace, ref.Name, o); !ok {
		return reference{}, out, err
	}
	return scaled(o), Resolved{}, nil
}

// read reads an object; it is false if there is none.
func (r *Reconciler) read(ctx context.Context, namespace, name string, o client.Object) (bool, error) {
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o)
	return err == nil, client.IgnoreNotFound(err)
}

// workloads are what a scalableRef may name.
func workloads() map[string]func() client.Object {
	return map[string]func() client.Object{
		"Deployment":  func() client.Object { return &appsv1.Deployment{} },
		"StatefulSet": func() client.Object { return &appsv1.StatefulSet{} },
		"ReplicaSet":  func() client.Object { return &appsv1.ReplicaSet{} },
	}
}

// scaled is what matters of a workload. One that says nothing of its replicas has one.
func scaled(o client.Object) reference {
	var out reference
	switch w := o.(type) {
	case *appsv1.Deployment:
		out = reference{&w.Spec.Template, w.Spec.Replicas}
	case *appsv1.StatefulSet:
		out = reference{&w.Spec.Template, w.Spec.Replicas}
	case *appsv1.ReplicaSet:
		out = reference{&w.Spec.Template, w.Spec.Replicas}
	}
	if out.replicas == nil {
		out.replicas = new(int32(1))
	}
	return out
}
