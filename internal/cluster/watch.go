package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/world"
)

// own are the kinds that this package watches by itself and keeps as values only.
var own = []string{
	"pods", "persistentvolumeclaims", "persistentvolumes", "storageclasses", "csinodes", "csidrivers", "namespaces", "daemonsets", "jobs", "limitranges", "poddisruptionbudgets",
}

// shared are the kinds whose objects reconcilers read as well; the manager's cache watches them.
var shared = []string{"nodes", "nodeclaims", "nodepools"}

// The sources that are only there where New was given them.
const (
	Provisioners = "provisioners"
	Overlays     = "nodeoverlays"
	Buffers      = "capacitybuffers" // which the controller that resolves them delivers
)

// selecting are the kinds that say which pods count for default constraints; watched where there are any.
var selecting = []string{"services", "replicationcontrollers", "replicasets", "statefulsets"}

// Sources are what every cluster state is fed by, and waits for before it is synced.
func Sources() []string { return append(append([]string{}, own...), shared...) }

// Watch feeds the cluster state until ctx ends. Shared objects come from informers,
// the rest from watches of its own. It returns once all are started.
func (c *Cluster) Watch(ctx context.Context, client kubernetes.Interface, informers ctrlcache.Informers) error {
	core, apps := client.CoreV1().RESTClient(), client.AppsV1().RESTClient()
	storage, policy := client.StorageV1().RESTClient(), client.PolicyV1().RESTClient()
	run(ctx, c, core, "pods", c.SetPod, c.DeletePod)
	run(ctx, c, core, "persistentvolumeclaims", c.SetVolumeClaim, c.DeleteVolumeClaim)
	run(ctx, c, core, "persistentvolumes", c.SetVolume, byName(c.DeleteVolume))
	run(ctx, c, storage, "storageclasses", c.SetStorageClass, byName(c.DeleteStorageClass))
	run(ctx, c, storage, "csinodes", c.SetCSINode, byName(c.DeleteCSINode))
	run(ctx, c, storage, "csidrivers", c.SetCSIDriver, byName(c.DeleteCSIDriver))
	run(ctx, c, core, "namespaces", c.SetNamespace, byName(c.DeleteNamespace))
	run(ctx, c, apps, "daemonsets", c.SetDaemonSet, c.DeleteDaemonSet)
	run(ctx, c, client.BatchV1().RESTClient(), "jobs", c.SetJob, c.DeleteJob)
	run(ctx, c, core, "limitranges", c.SetLimitRange, c.DeleteLimitRange)
	run(ctx, c, policy, "poddisruptionbudgets", c.SetGuard, c.DeleteGuard)
	if slices.Contains(c.sources, selecting[0]) {
		run(ctx, c, core, "services", c.SetService, c.DeleteService)
		run(ctx, c, core, "replicationcontrollers", c.SetReplicationController, c.DeleteReplicationController)
		run(ctx, c, apps, "replicasets", c.SetReplicaSet, c.DeleteReplicaSet)
		run(ctx, c, apps, "statefulsets", c.SetStatefulSet, c.DeleteStatefulSet)
	}
	if slices.Contains(c.sources, allocating[0]) {
		resources := client.ResourceV1().RESTClient()
		run(ctx, c, resources, "resourceclaims", c.SetResourceClaim, c.DeleteResourceClaim)
		run(ctx, c, resources, "deviceclasses", c.SetDeviceClass, byName(c.DeleteDeviceClass))
		run(ctx, c, resources, "resourceslices", c.SetResourceSlice, byName(c.DeleteResourceSlice))
	}

	if err := share(ctx, c, informers, "nodes", c.SetNode, func(n *corev1.Node) { c.DeleteNode(n.Name) }); err != nil {
		return err
	}
	if err := share(ctx, c, informers, "nodeclaims", c.SetClaim, func(n *v1.NodeClaim) { c.DeleteClaim(n.Name, string(n.UID)) }); err != nil {
		return err
	}
	if err := share(ctx, c, informers, "nodepools", c.SetNodePool, func(p *v1.NodePool) {
		c.DeletePool(world.PoolID{Kind: world.NodePool, Name: p.Name})
	}); err != nil {
		return err
	}
	if slices.Contains(c.sources, Overlays) {
		if err := share(ctx, c, informers, Overlays, c.SetOverlay, func(o *v1alpha1.NodeOverlay) { c.DeleteOverlay(o.Name) }); err != nil {
			return err
		}
	}
	if !slices.Contains(c.sources, Provisioners) {
		return nil
	}
	return share(ctx, c, informers, Provisioners, c.SetProvisioner, func(p *v1alpha5.Provisioner) {
		c.DeletePool(world.PoolID{Kind: world.Provisioner, Name: p.Name})
	})
}

func byName(f func(string)) func(world.Key) { return func(k world.Key) { f(k.Name) } }

// run watches one kind until ctx ends.
func run[T any, P object[T]](ctx context.Context, c *Cluster, api rest.Interface, resource string, set func(P), del func(world.Key)) {
	f := &feed[T, P]{cluster: c, source: resource, set: set, del: del, known: map[world.Key]bool{}}
	lw := cache.NewListWatchFromClient(api, resource, "", fields.Everything())
	lw.ListWithContextFunc = f.pages(lw.ListWithContextFunc)
	r := cache.NewReflectorWithOptions(lw, P(new(T)), f, cache.ReflectorOptions{Name: "cluster/" + resource})
	go r.RunWithContext(ctx)
}

// share has the informer of one kind tell the cluster state.
func share[T any, P object[T]](ctx context.Context, c *Cluster, informers ctrlcache.Informers, source string, set, del func(P)) error {
	informer, err := informers.GetInformer(ctx, P(new(T)))
	if err != nil {
		return fmt.Errorf("watch %s: %w", source, err)
	}
	handle, err := informer.AddEventHandler(c.handlers(source, func(o any) { with(o, set) }, func(o any) { with(o, del) }))
	if err != nil {
		return fmt.Errorf("watch %s: %w", source, err)
	}
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), handle.HasSynced) {
			c.Delivered(source)
		}
	}()
	return nil
}

// handlers have the informer of a source set and delete objects. One that breaks
// our code stays in the cluster state as it was, or is left out. A node that is left out
// is not ended, since what is on it cannot be seen (controller/terminate); for claims
// see setUnread; pools and overlays that are left out buy nothing, or do nothing.
func (c *Cluster) handlers(source string, set, del func(any)) cache.ResourceEventHandler {
	set = c.Panics.Handle(source, set)
	del = c.Panics.Handle(source, del)
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    set,
		UpdateFunc: func(_, o any) { set(o) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			del(o)
		},
	}
}

func with[P any](o any, f func(P)) {
	if p, ok := o.(P); ok {
		f(p)
	}
}

// object is a pointer to a Kubernetes object.
type object[T any] interface {
	*T
	client.Object
}

// Await returns once the cluster state is synced, or false when ctx ends first.
func (c *Cluster) Await(ctx context.Context) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, _ := c.Synced(); ok {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}
