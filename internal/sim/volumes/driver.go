package volumes

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/tenon-sh/tenon/internal/clock"
)

// Driver makes, attaches and removes volumes until its context ends.
type Driver struct {
	Client kubernetes.Interface
	// Limit is how many volumes a node can attach; a node with a negative one has no part of the driver.
	Limit func(*corev1.Node) int32
	// Delay is how long a volume takes to be attached or taken off.
	Delay time.Duration
	Now   clock.Now
	// Say is called with what goes wrong.
	Say func(format string, args ...any)

	informers informers.SharedInformerFactory
	queue     workqueue.TypedRateLimitingInterface[item]
}

// item is an object that something may have to be done for.
type item struct {
	kind kind
	key  string // namespace/name
}

type kind string

const (
	claims      kind = "claim"
	volumes     kind = "volume"
	attachments kind = "attachment"
	nodes       kind = "node"
)

// workers is how many objects are worked on side by side.
const workers = 8

// Run works until ctx ends.
func (d *Driver) Run(ctx context.Context) {
	d.informers = informers.NewSharedInformerFactory(d.Client, 0)
	d.queue = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[item](100*time.Millisecond, 10*time.Second))
	core, storage := d.informers.Core().V1(), d.informers.Storage().V1()
	for k, informer := range map[kind]cache.SharedIndexInformer{
		claims:      core.PersistentVolumeClaims().Informer(),
		volumes:     core.PersistentVolumes().Informer(),
		attachments: storage.VolumeAttachments().Informer(),
		nodes:       core.Nodes().Informer(),
	} {
		add := func(o any) {
			if key, err := cache.MetaNamespaceKeyFunc(o); err == nil {
				d.queue.Add(item{k, key})
			}
		}
		// Handlers are refused only by an informer that has stopped.
		_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, o any) { add(o) }})
	}
	storage.StorageClasses().Informer()
	storage.CSINodes().Informer()
	d.informers.Start(ctx.Done())
	d.informers.WaitForCacheSync(ctx.Done())
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for d.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	d.queue.ShutDown()
	working.Wait()
	d.informers.Shutdown()
}

func (d *Driver) next(ctx context.Context) bool {
	i, end := d.queue.Get()
	if end {
		return false
	}
	defer d.queue.Done(i)
	wait, err := d.work(ctx, i)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		if !apierrors.IsConflict(err) {
			d.Say("storage driver: %s %s: %v", i.kind, i.key, err)
		}
		d.queue.AddRateLimited(i)
	case wait > 0:
		d.queue.AddAfter(i, wait)
	default:
		d.queue.Forget(i)
	}
	return true
}

// work does what there is to do for an object, and returns when to look again.
// What has gone meanwhile needs nothing.
func (d *Driver) work(ctx context.Context, i item) (wait time.Duration, err error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(i.key)
	if err != nil {
		return 0, err
	}
	switch i.kind {
	case claims:
		err = d.provision(ctx, namespace, name)
	case volumes:
		wait, err = d.remove(ctx, name)
	case attachments:
		wait, err = d.attach(ctx, name)
	case nodes:
		err = d.join(ctx, name)
	}
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
		return 0, nil
	}
	return wait, err
}

// provision makes the volume of a claim.
func (d *Driver) provision(ctx context.Context, namespace, name string) error {
	c, err := d.informers.Core().V1().PersistentVolumeClaims().Lister().PersistentVolumeClaims(namespace).Get(name)
	if err != nil || c.Spec.StorageClassName == nil {
		return err
	}
	class, err := d.informers.Storage().V1().StorageClasses().Lister().Get(*c.Spec.StorageClassName)
	if err != nil || !wanted(c, class) {
		return err
	}
	all, err := d.informers.Core().V1().Nodes().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	zone := Zone(c, class, all)
	if zone == "" {
		return fmt.Errorf("no zone for its volume: node %q is not there, or is in no zone", c.Annotations[annotationNode])
	}
	_, err = d.Client.CoreV1().PersistentVolumes().Create(ctx, Volume(c, class, zone), metav1.CreateOptions{})
	return err
}

// remove deletes a volume that is not wanted any more, once it is on no machine.
func (d *Driver) remove(ctx context.Context, name string) (time.Duration, error) {
	v, err := d.informers.Core().V1().PersistentVolumes().Lister().Get(name)
	if err != nil || !useless(v) {
		return 0, err
	}
	all, err := d.informers.Storage().V1().VolumeAttachments().Lister().List(labels.Everything())
	if err != nil {
		return 0, err
	}
	for _, a := range all {
		if on := a.Spec.Source.PersistentVolumeName; on != nil && *on == name {
			return time.Second, nil
		}
	}
	return 0, d.Client.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{})
}

// attach puts a volume on a machine, or takes it off, each after a while.
func (d *Driver) attach(ctx context.Context, name string) (time.Duration, error) {
	a, err := d.informers.Storage().V1().VolumeAttachments().Lister().Get(name)
	if err != nil || a.Spec.Attacher != Name {
		return 0, err
	}
	change, since := a.DeepCopy(), a.CreationTimestamp.Time
	leaving := a.DeletionTimestamp != nil
	if leaving {
		since = a.DeletionTimestamp.Time
		if a.DeletionGracePeriodSeconds != nil {
			since = since.Add(-time.Duration(*a.DeletionGracePeriodSeconds) * time.Second)
		}
	}
	held := slices.Contains(a.Finalizers, finalizer)
	calls := d.Client.StorageV1().VolumeAttachments()
	switch {
	case !leaving && !held:
		change.Finalizers = append(change.Finalizers, finalizer)
		_, err = calls.Update(ctx, change, metav1.UpdateOptions{})
		return 0, err
	case !leaving && a.Status.Attached, leaving && !held:
		return 0, nil // all is done
	}
	if wait := d.Delay - d.Now.Since(since); wait > 0 {
		return wait, nil
	}
	if leaving {
		change.Finalizers = slices.DeleteFunc(change.Finalizers, func(f string) bool { return f == finalizer })
		_, err = calls.Update(ctx, change, metav1.UpdateOptions{})
		return 0, err
	}
	change.Status.Attached = true
	_, err = calls.UpdateStatus(ctx, change, metav1.UpdateOptions{})
	return 0, err
}

// join has the driver's part on a new node say what the node can attach.
func (d *Driver) join(ctx context.Context, name string) error {
	n, err := d.informers.Core().V1().Nodes().Lister().Get(name)
	if err != nil {
		return err
	}
	limit := d.Limit(n)
	if limit < 0 || !ready(n) {
		return nil
	}
	has, err := d.informers.Storage().V1().CSINodes().Lister().Get(name)
	switch {
	case apierrors.IsNotFound(err):
		_, err = d.Client.StorageV1().CSINodes().Create(ctx, Plugin(n, limit), metav1.CreateOptions{})
		return err
	case err != nil:
		return err
	case slices.ContainsFunc(has.Spec.Drivers, func(o storagev1.CSINodeDriver) bool { return o.Name == Name }):
		return nil
	}
	next := has.DeepCopy()
	next.Spec.Drivers = append(next.Spec.Drivers, Plugin(n, limit).Spec.Drivers...)
	_, err = d.Client.StorageV1().CSINodes().Update(ctx, next, metav1.UpdateOptions{})
	return err
}

func ready(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}
