// Package devices is the drivers of dynamic resources of a cluster whose machines are simulated: they publish the devices that NodePools state for their nodes.
//
// Of the devices there is nothing but ResourceSlices. Everything else is as it is
// in any cluster: Kubernetes' own controllers make claims, and its scheduler
// allocates devices of the slices and binds the pods.
package devices

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// slicesOf are what the drivers publish of a node, one for each: the devices that its pool states for nodes like it.
func slicesOf(p *v1.NodePool, n *corev1.Node) ([]*resourcev1.ResourceSlice, error) {
	stated, wrong := p.DeviceTemplates()
	if len(wrong) > 0 {
		return nil, wrong.ToAggregate()
	}
	byDriver := map[string][]resourcev1.Device{}
	for _, t := range stated {
		meets, err := meets(t.Requirements, n)
		if err != nil {
			return nil, err
		}
		for _, d := range t.Devices { // of several that name one device the first counts
			if meets && !slices.ContainsFunc(byDriver[t.Driver], func(o resourcev1.Device) bool { return o.Name == d.Name }) {
				byDriver[t.Driver] = append(byDriver[t.Driver], d)
			}
		}
	}
	var out []*resourcev1.ResourceSlice
	for _, driver := range slices.Sorted(maps.Keys(byDriver)) {
		out = append(out, &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{
				Name:            n.Name + "-" + driver,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID}},
			},
			Spec: resourcev1.ResourceSliceSpec{
				Driver: driver, NodeName: &n.Name, Devices: byDriver[driver],
				Pool: resourcev1.ResourcePool{Name: n.Name, Generation: 1, ResourceSliceCount: 1},
			},
		})
	}
	return out, nil
}

// meets reports whether the labels of the node are as required.
func meets(requirements []v1.Requirement, n *corev1.Node) (bool, error) {
	for _, r := range requirements {
		op, known := map[corev1.NodeSelectorOperator]selection.Operator{
			corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn, corev1.NodeSelectorOpExists: selection.Exists,
			corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist, corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
		}[r.Operator]
		if !known {
			return false, fmt.Errorf("requirement on %s: the drivers of the playground do not know %s", r.Key, r.Operator)
		}
		q, err := labels.NewRequirement(r.Key, op, r.Values)
		if err != nil {
			return false, err
		}
		if !q.Matches(labels.Set(n.Labels)) {
			return false, nil
		}
	}
	return true, nil
}

// Driver publishes devices until its context ends.
type Driver struct {
	Client  kubernetes.Interface
	Objects dynamic.Interface
	// Delay is how long drivers take to start on a node that is ready.
	Delay time.Duration
	// Say is called with what happens.
	Say func(format string, args ...any)

	nodes cache.SharedIndexInformer
	queue workqueue.TypedRateLimitingInterface[string]

	mu   sync.Mutex
	done map[string]bool // UIDs of nodes whose devices are published
}

// Run works until ctx ends.
func (d *Driver) Run(ctx context.Context) {
	all := informers.NewSharedInformerFactory(d.Client, 0)
	d.nodes, d.done = all.Core().V1().Nodes().Informer(), map[string]bool{}
	d.queue = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](200*time.Millisecond, 10*time.Second))
	add := func(o any) {
		if n, ok := o.(*corev1.Node); ok && !d.published(n) && n.Labels[v1.LabelNodePool] != "" && ready(n) {
			d.queue.AddAfter(n.Name, d.Delay)
		}
	}
	// Handlers are refused only by an informer that has stopped.
	_, _ = d.nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, o any) { add(o) }})
	all.Start(ctx.Done())
	var working sync.WaitGroup
	working.Go(func() {
		for d.next(ctx) {
		}
	})
	<-ctx.Done()
	d.queue.ShutDown()
	working.Wait()
	all.Shutdown()
}

func (d *Driver) published(n *corev1.Node) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.done[string(n.UID)]
}

func ready(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func (d *Driver) next(ctx context.Context) bool {
	name, end := d.queue.Get()
	if end {
		return false
	}
	defer d.queue.Done(name)
	switch err := d.publish(ctx, name); {
	case ctx.Err() != nil:
	case err != nil:
		d.Say("devices of node %s: %v", name, err)
		d.queue.AddRateLimited(name)
	default:
		d.queue.Forget(name)
	}
	return true
}

// publish makes the slices of a node. What has gone meanwhile needs nothing.
func (d *Driver) publish(ctx context.Context, name string) error {
	o, there, err := d.nodes.GetStore().GetByKey(name)
	n, ok := o.(*corev1.Node)
	if err != nil || !there || !ok || d.published(n) {
		return err
	}
	p, err := d.pool(ctx, n.Labels[v1.LabelNodePool])
	if apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return err
	}
	all, err := slicesOf(p, n)
	if err != nil {
		return err
	}
	var drivers []string
	for _, s := range all {
		if _, err := d.Client.ResourceV1().ResourceSlices().Create(ctx, s, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		drivers = append(drivers, fmt.Sprintf("%d of %s", len(s.Spec.Devices), s.Spec.Driver))
	}
	if len(drivers) > 0 {
		d.Say("node %s publishes devices: %s", name, strings.Join(drivers, ", "))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done[string(n.UID)] = true
	return nil
}

func (d *Driver) pool(ctx context.Context, name string) (*v1.NodePool, error) {
	u, err := d.Objects.Resource(v1.GroupVersion.WithResource("nodepools")).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	var p v1.NodePool
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &p); err != nil {
		return nil, fmt.Errorf("NodePool %s: %w", name, err)
	}
	return &p, nil
}
