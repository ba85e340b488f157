// Package host is one node of the playground's own, which runs the pods of our image as processes.
//
// It does for them what a kubelet does and needs no container: arguments, environment, a token of the service account,
// probes over HTTP, restarts, the time to end in, logs. Pods of other images, of several containers or with init
// containers do not run, and their status says so. There is no exec, no attach and no forwarding of ports.
package host

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/playground/process"
)

const (
	loopback  = "127.0.0.1"
	heartbeat = 10 * time.Second
	leaseTime = 40 * time.Second
)

// Options are what a host is made of.
type Options struct {
	Client      kubernetes.Interface
	APIServer   string       // as pods are to call it
	CA          []byte       // of the API server, PEM
	Node        *corev1.Node // what is registered; the host adds its addresses and conditions
	Dir         string       // for logs and tokens
	Image       string       // pods with an image of this repository run
	Program     string       // as this program
	Environment []string     // that every process has besides what its pod says
	Ports       *Ports       // that the hosts of this computer share; nil: there is no other host
	Now         clock.Now
	Say         func(format string, args ...any)
}

// A Host is a running node.
type Host struct {
	o       Options
	address string // of its pods
	done    chan struct{}

	mu   sync.Mutex
	pods map[types.UID]*pod
	port int // of its logs
}

// Run registers the node and runs its pods until ctx ends. Pods stay in the API; the next host of that name runs them
// again.
func Run(ctx context.Context, o Options) (*Host, error) {
	if o.Ports == nil {
		o.Ports = &Ports{}
	}
	h := &Host{o: o, address: address(), done: make(chan struct{}), pods: map[types.UID]*pod{}}
	port, closeLogs, err := h.serve()
	if err != nil {
		return nil, err
	}
	h.port = port
	if err := h.register(ctx); err != nil {
		closeLogs()
		return nil, fmt.Errorf("register node %s: %w", o.Node.Name, err)
	}
	go func() {
		defer close(h.done)
		defer closeLogs()
		h.run(ctx)
	}()
	return h, nil
}

// Done is closed when the host and all of its processes have ended.
func (h *Host) Done() <-chan struct{} { return h.done }

// Reachable reports whether services lead to the pods: the API server refuses endpoints on the loopback interface, and
// a computer may have no other.
func (h *Host) Reachable() bool { return h.address != loopback }

// A Running is the process of a pod.
type Running struct {
	Namespace, Name string
	Labels          map[string]string
	Ports           map[string]int // of this computer, by the names they have in the pod
	process         *process.Process
}

// Kill ends the process as a crash would.
func (r Running) Kill() error { return r.process.Kill() }

// Running are the pods whose processes run now.
func (h *Host) Running() []Running {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []Running
	for _, p := range h.pods {
		if r, ok := p.running(); ok {
			out = append(out, r)
		}
	}
	return out
}

// run follows pods and sends heartbeats.
func (h *Host) run(ctx context.Context) {
	var running sync.WaitGroup
	f := informers.NewSharedInformerFactoryWithOptions(h.o.Client, 0, informers.WithTweakListOptions(func(l *metav1.ListOptions) {
		l.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", h.o.Node.Name).String()
	}))
	see := func(o any) {
		if p, ok := o.(*corev1.Pod); ok {
			h.see(ctx, &running, p)
		}
	}
	// Handlers are refused only by an informer that has stopped.
	_, _ = f.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: see, UpdateFunc: func(_, o any) { see(o) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			if p, ok := o.(*corev1.Pod); ok {
				h.end(p.UID, 0) // deleted by force
			}
		},
	})
	f.Start(ctx.Done())
	h.beat(ctx)
	f.Shutdown()
	running.Wait()
}

// see begins the life of a pod that is new, and ends that of one that is being deleted.
func (h *Host) see(ctx context.Context, running *sync.WaitGroup, p *corev1.Pod) {
	h.mu.Lock()
	known, ok := h.pods[p.UID]
	if !ok && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
		known = newPod(h, p)
		h.pods[p.UID] = known
		running.Go(func() {
			known.live(ctx)
			h.mu.Lock()
			delete(h.pods, p.UID)
			h.mu.Unlock()
		})
	}
	h.mu.Unlock()
	if p.DeletionTimestamp != nil {
		grace := int64(0)
		if p.DeletionGracePeriodSeconds != nil {
			grace = *p.DeletionGracePeriodSeconds
		}
		h.end(p.UID, time.Duration(grace)*time.Second)
	}
}

// end asks a pod to end within grace.
func (h *Host) end(uid types.UID, grace time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p, ok := h.pods[uid]; ok {
		p.end(grace)
	}
}

// find returns the pod of that name.
func (h *Host) find(namespace, name string) *pod {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pods {
		if p.Namespace == namespace && p.Name == name {
			return p
		}
	}
	return nil
}

// register makes the Node, or takes over the one that is there.
func (h *Host) register(ctx context.Context) error {
	n := h.o.Node.DeepCopy()
	nodes := h.o.Client.CoreV1().Nodes()
	now := metav1.NewTime(h.o.Now())
	// No host name: the API server would rather ask by that, and it cannot be resolved.
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: loopback}}
	n.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(h.port) //nolint:gosec // a port
	n.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "the playground runs",
		LastHeartbeatTime: now, LastTransitionTime: now,
	}}
	if _, err := nodes.Create(ctx, n, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	// Others write to a new node at once, and to other fields.
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		is, err := nodes.Get(ctx, n.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		is.Status = n.Status
		_, err = nodes.UpdateStatus(ctx, is, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	return h.renew(ctx)
}

// beat keeps the node ready until ctx ends.
func (h *Host) beat(ctx context.Context) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := h.alive(ctx); err != nil && ctx.Err() == nil {
			h.o.Say("the heartbeat of node %s: %v", h.o.Node.Name, err)
		}
	}
}

// alive sends a heartbeat. While the API server answered nothing the node was taken for dead, and that ends only when
// the node itself says that it is ready.
func (h *Host) alive(ctx context.Context) error {
	n, err := h.o.Client.CoreV1().Nodes().Get(ctx, h.o.Node.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	for _, c := range n.Status.Conditions {
		if err == nil && c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			return h.renew(ctx)
		}
	}
	return h.register(ctx)
}

// renew writes the lease of the node.
func (h *Host) renew(ctx context.Context) error {
	leases := h.o.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	now, seconds := metav1.NewMicroTime(h.o.Now()), int32(leaseTime.Seconds())
	spec := coordinationv1.LeaseSpec{HolderIdentity: &h.o.Node.Name, LeaseDurationSeconds: &seconds, RenewTime: &now}
	l, err := leases.Get(ctx, h.o.Node.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: h.o.Node.Name}, Spec: spec}, metav1.CreateOptions{})
		return err
	} else if err != nil {
		return err
	}
	l.Spec = spec
	_, err = leases.Update(ctx, l, metav1.UpdateOptions{})
	return err
}

// address is the first IPv4 address of this computer that EndpointSlices may have, or that of the loopback interface
// when there is none: services lead nowhere then.
func address() string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return loopback
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	return loopback
}

// dir makes the directory of a pod.
func (h *Host) dir(uid types.UID) (string, error) {
	dir := filepath.Join(h.o.Dir, string(uid))
	return dir, os.MkdirAll(dir, 0o700)
}
