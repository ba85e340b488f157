package terminate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
)

func TestMain(m *testing.M) { kubetest.Main(m, kubetest.CRDs("../../../api/crds")) }

// shop is a driver that has machines and ends them a moment after it is asked to.
type shop struct {
	mu       sync.Mutex
	machines map[cloud.MachineID]bool // true: ending
	ended    map[cloud.MachineID]int  // how often it was asked to end
	metrics  *prometheus.Registry
}

// refused fails until an eviction was refused by a budget.
func (s *shop) refused() error {
	families, err := s.metrics.Gather()
	if err != nil {
		return err
	}
	for _, f := range families {
		if f.GetName() != metric.PodsEvictionRequests {
			continue
		}
		for _, m := range f.GetMetric() {
			if l := m.GetLabel(); len(l) == 1 && l[0].GetValue() == "429" {
				return nil
			}
		}
	}
	return fmt.Errorf("no eviction was refused: %v", families)
}

func (*shop) Catalog(context.Context, cloud.Template) (world.Catalog, error) {
	return world.Catalog{}, errors.New("not sold")
}
func (*shop) Launch(context.Context, []cloud.Order) []cloud.Outcome { return nil }
func (*shop) Drift(context.Context, cloud.Machine, cloud.Template) (cloud.Drifted, error) {
	return cloud.Drifted{}, nil
}

func (s *shop) Terminate(_ context.Context, ids []cloud.MachineID) []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.machines[id] = true
		s.ended[id]++
	}
	return make([]error, len(ids))
}

func (s *shop) List(context.Context) ([]cloud.Machine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []cloud.Machine
	for id, ending := range s.machines {
		out = append(out, cloud.Machine{ID: id, ProviderID: "test:///" + string(id), Ending: ending})
		if ending {
			delete(s.machines, id)
		}
	}
	return out, nil
}

func (s *shop) Find(_ context.Context, ids []string) ([]cloud.Machine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []cloud.Machine
	for id, ending := range s.machines {
		if provider := "test:///" + string(id); slices.Contains(ids, provider) {
			out = append(out, cloud.Machine{ID: id, ProviderID: provider, Ending: ending})
		}
	}
	return out, nil
}

func (*shop) Complete(_ context.Context, _ cloud.Template, machines []cloud.Machine) ([]cloud.Machine, error) {
	return machines, nil
}

func (s *shop) has(id cloud.MachineID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.machines[id] && s.ended[id] == 0
}

// start runs the reconcilers on the test's API server, with a clock that runs
// ten times as fast, until the test ends.
func start(t *testing.T, machines ...cloud.MachineID) (client.Client, *shop) {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	access := kubetest.Config(t)
	skip := true
	m, err := ctrl.NewManager(access, ctrl.Options{
		Scheme: known, Metrics: server.Options{BindAddress: "0"}, Logger: logr.Discard(),
		Controller: config.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := loop.Index(t.Context(), m.GetFieldIndexer()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	now := clock.Now(func() time.Time { return began.Add(10 * time.Since(began)) })
	s := &shop{machines: map[cloud.MachineID]bool{}, ended: map[cloud.MachineID]int{}, metrics: prometheus.NewRegistry()}
	counts, err := metric.New(s.metrics, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range machines {
		s.machines[id] = false
	}
	state := cluster.New(now, cluster.Sources()...)
	e := &enact.Enactor{Client: m.GetClient(), Cluster: state, Events: (*loop.Events)(nil), Metrics: counts, Now: now, Log: logr.Discard()}
	ends := terminate.NewMachines(cloud.New(cloud.Config{Driver: s, Now: now}), nil, now)
	nodes := &terminate.Nodes{Client: m.GetClient(), Cluster: state, Machines: ends, Evictor: enact.NewEvictor(e), Now: now, Log: logr.Discard()}
	claims := &terminate.Claims{Client: m.GetClient(), Cluster: state, Machines: ends, Now: now}
	if err := errors.Join(nodes.Register(m), claims.Register(m)); err != nil {
		t.Fatal(err)
	}
	set, err := kubernetes.NewForConfig(access)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if err := state.Watch(ctx, set, m.GetCache()); err != nil {
		t.Fatal(err)
	}
	return kubetest.Client(t, v1.AddToScheme), s
}

func put(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// joined makes a claim whose machine has joined as a node of the same name.
func joined(t *testing.T, c client.Client, name string, id cloud.MachineID, ready bool) {
	t.Helper()
	launched(t, c, name, id, true)
	joins(t, c, name, id, ready)
}

// joins makes the node of a machine.
func joins(t *testing.T, c client.Client, name string, id cloud.MachineID, ready bool) {
	t.Helper()
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{v1.Finalizer}, Labels: map[string]string{v1.LabelNodePool: "pool"}},
		Spec:       corev1.NodeSpec{ProviderID: "test:///" + string(id)},
	}
	put(t, c, n)
	if ready {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		if err := c.Status().Update(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
}

func launched(t *testing.T, c client.Client, name string, id cloud.MachineID, registered bool) {
	t.Helper()
	o := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{v1.Finalizer}, Labels: map[string]string{v1.LabelNodePool: "pool"}},
		Spec: v1.NodeClaimSpec{
			Requirements: []v1.Requirement{}, NodeClassRef: &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}, ExpireAfter: v1.Never,
		},
	}
	put(t, c, o)
	o.Status.ProviderID = "test:///" + string(id)
	o.Conditions().True(v1.ConditionLaunched, "", "", time.Now().Add(-time.Hour))
	if registered {
		o.Status.NodeName = name
		o.Conditions().True(v1.ConditionRegistered, "", "", time.Now())
	}
	if err := c.Status().Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func gone(t *testing.T, c client.Client, o client.Object) error {
	err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("%T %s is still there: %w", o, o.GetName(), errors.Join(err, fmt.Errorf("deleted %v", o.GetDeletionTimestamp())))
}

func node(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }

func claim(name string) *v1.NodeClaim {
	return &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func remove(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	if err := c.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// A node that somebody deletes is drained as budgets allow, its machine ends,
// and then node and claim are gone.
func TestDeleteNode(t *testing.T) {
	c, s := start(t, "i-1")
	joined(t, c, "drained", "i-1", true)
	ns := kubetest.Namespace(t)
	put(t, c, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "default"}})
	none := int64(0)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "p", Labels: map[string]string{"app": "a"}},
		Spec: corev1.PodSpec{
			NodeName: "drained", TerminationGracePeriodSeconds: &none,
			Containers: []corev1.Container{{Name: "c", Image: "i"}},
		},
	}
	put(t, c, p)
	guard := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "guard"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}},
	}
	put(t, c, guard)
	guard.Status.ObservedGeneration = guard.Generation // as the disruption controller says it
	if err := c.Status().Update(t.Context(), guard); err != nil {
		t.Fatal(err)
	}
	p.Status.Phase = corev1.PodRunning
	if err := c.Status().Update(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	remove(t, c, node("drained"))

	kubetest.Within(t, 20*time.Second, func() error {
		var n corev1.Node
		var k v1.NodeClaim
		if err := errors.Join(c.Get(t.Context(), client.ObjectKey{Name: "drained"}, &n), c.Get(t.Context(), client.ObjectKey{Name: "drained"}, &k)); err != nil {
			return err
		}
		if !slices.ContainsFunc(n.Spec.Taints, func(x corev1.Taint) bool { return x.Key == v1.TaintDisrupted }) || n.Labels[v1.LabelExcludeBalancers] == "" {
			return fmt.Errorf("node is not marked: %v", n.Spec.Taints)
		}
		if d := k.Conditions().Get(v1.ConditionDrained); d == nil || d.Reason != v1.ReasonDraining || k.DeletionTimestamp == nil {
			return fmt.Errorf("claim does not say that its node drains: %+v", d)
		}
		return nil
	})
	kubetest.Within(t, 20*time.Second, func() error { return s.refused() })
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil || !s.has("i-1") {
		t.Fatalf("the budget was not kept: %v", err)
	}
	remove(t, c, guard)
	kubetest.Within(t, 15*time.Second, func() error {
		return errors.Join(gone(t, c, p), gone(t, c, node("drained")), gone(t, c, claim("drained")))
	})
	if s.ended["i-1"] != 1 {
		t.Errorf("the machine was ended %d times", s.ended["i-1"])
	}
}

// Ends that wait for nothing.
func TestEnds(t *testing.T) {
	c, s := start(t, "i-2", "i-3", "i-4")
	t.Run("Unregistered", func(t *testing.T) {
		launched(t, c, "young", "i-2", false)
		remove(t, c, claim("young"))
		kubetest.Within(t, 20*time.Second, func() error { return gone(t, c, claim("young")) })
		if s.has("i-2") {
			t.Error("the machine of a claim that never registered lives on")
		}
	})
	t.Run("JoinedTooLate", func(t *testing.T) { // its node is there and closed to pods, but for one with much time that no kubelet will end
		ns := kubetest.Namespace(t)
		put(t, c, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "default"}})
		launched(t, c, "late", "i-4", false)
		joins(t, c, "late", "i-4", true)
		n := node("late")
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(n), n); err != nil {
			t.Fatal(err)
		}
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: v1.TaintUnregistered, Effect: corev1.TaintEffectNoExecute})
		if err := c.Update(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		hour := int64(3600)
		put(t, c, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "p"},
			Spec:       corev1.PodSpec{NodeName: "late", TerminationGracePeriodSeconds: &hour, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		})
		remove(t, c, claim("late"))
		kubetest.Within(t, 20*time.Second, func() error { return errors.Join(gone(t, c, node("late")), gone(t, c, claim("late"))) })
		if s.has("i-4") {
			t.Error("the machine of a claim that never registered lives on")
		}
	})
	t.Run("MachineVanished", func(t *testing.T) {
		joined(t, c, "crashed", "i-nowhere", false)
		remove(t, c, claim("crashed"))
		kubetest.Within(t, 20*time.Second, func() error { return errors.Join(gone(t, c, node("crashed")), gone(t, c, claim("crashed"))) })
	})
	t.Run("NoClaim", func(t *testing.T) {
		joined(t, c, "alone", "i-3", true)
		k := claim("alone")
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(k), k); err != nil {
			t.Fatal(err)
		}
		controllerutil.RemoveFinalizer(k, v1.Finalizer)
		if err := c.Update(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		remove(t, c, k)
		remove(t, c, node("alone"))
		kubetest.Within(t, 20*time.Second, func() error { return gone(t, c, node("alone")) })
		if s.has("i-3") {
			t.Error("the machine of a node without a claim lives on")
		}
	})
}
