package kubelet_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
)

func TestMain(m *testing.M) {
	options := []kubetest.Option{kubetest.Scheduler, kubetest.Controllers, kubetest.Machines}
	if os.Getenv(big) == "" {
		// Long enough for a slow computer to renew a lease in, short enough to wait for.
		options = append(options, kubetest.Grace(6*time.Second))
	}
	kubetest.Main(m, options...)
}

// needsGrace skips a test that waits for a silent node, unless such a node is soon noticed.
func needsGrace(t *testing.T) {
	t.Helper()
	if os.Getenv(big) != "" {
		t.Skipf("among many machines a node may be silent for five minutes; run it without %s", big)
	}
}

const userData = `#!/bin/bash
/etc/eks/bootstrap.sh 'demo' --kubelet-extra-args '--node-labels=karpenter.sh/nodepool=default --register-with-taints=karpenter.sh/unregistered:NoExecute --max-pods=20'
`

func machine(name string) kubelet.Machine {
	return kubelet.Machine{
		ID: "i-" + name, ProviderID: "aws:///us-west-2a/i-" + name, NodeName: name,
		InstanceType: "m5.large", Zone: "us-west-2a", Region: "us-west-2", PrivateIP: "10.0.0.1", UserData: []byte(userData),
		Capacity: corev1.ResourceList{
			"cpu": resource.MustParse("2"), "memory": resource.MustParse("8Gi"), "ephemeral-storage": resource.MustParse("20Gi"),
			"pods": resource.MustParse("29"), "nvidia.com/gpu": resource.MustParse("1"),
		},
	}
}

func fleet(t *testing.T, d kubelet.Delays) *kubelet.Fleet {
	set, err := kubernetes.NewForConfig(kubetest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	f := kubelet.New(kubelet.Options{Nodes: set.CoreV1().Nodes(), Delays: d})
	t.Cleanup(func() {
		f.Close()
		for _, m := range f.Machines() {
			if err := set.CoreV1().Nodes().Delete(context.Background(), m.Node, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				t.Error(err)
			}
		}
	})
	return f
}

// ready waits until the Ready condition of a node is want.
func ready(t *testing.T, c client.Client, name string, want corev1.ConditionStatus) *corev1.Node {
	t.Helper()
	var n corev1.Node
	kubetest.Within(t, time.Minute, func() error {
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, &n); err != nil {
			return err
		}
		for _, is := range n.Status.Conditions {
			if is.Type == corev1.NodeReady && is.Status == want {
				return nil
			}
		}
		return fmt.Errorf("Ready of node %s is not %s: %v", name, want, n.Status.Conditions)
	})
	return &n
}

// untaint does what the controller does once it has seen the node register.
func untaint(t *testing.T, c client.Client, n *corev1.Node) {
	t.Helper()
	kubetest.Within(t, 10*time.Second, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(n), n); err != nil {
			return err
		}
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "karpenter.sh/unregistered" })
		return c.Update(t.Context(), n)
	})
}

func pod(t *testing.T, c client.Client, ns, name, node string) {
	t.Helper()
	now := int64(0)
	if err := c.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: corev1.PodSpec{
			Containers:   []corev1.Container{{Name: "c", Image: "c"}},
			NodeSelector: map[string]string{"kubernetes.io/hostname": node},
			Tolerations:  []corev1.Toleration{{Key: "node.kubernetes.io/unreachable", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &now}},
		},
	}); err != nil {
		t.Fatal(err)
	}
}

func running(t *testing.T, c client.Client, ns, name string) {
	t.Helper()
	kubetest.Within(t, 30*time.Second, func() error {
		var p corev1.Pod
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, &p); err != nil {
			return err
		}
		if p.Status.Phase != corev1.PodRunning || !isReady(p) {
			return fmt.Errorf("pod %s is %s, ready: %t", name, p.Status.Phase, isReady(p))
		}
		return nil
	})
}

func isReady(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func TestAMachineBootsRunsPodsAndItsNodeCanBeDeleted(t *testing.T) {
	c, ns := kubetest.Client(t), kubetest.Namespace(t)
	f := fleet(t, kubelet.Delays{Boot: 300 * time.Millisecond, Ready: 300 * time.Millisecond, Devices: 300 * time.Millisecond})
	if err := f.Boot(machine("works")); err != nil {
		t.Fatal(err)
	}
	if err := f.Boot(machine("works")); err == nil {
		t.Error("a machine booted twice")
	}
	n := ready(t, c, "works", corev1.ConditionTrue)
	if n.Labels["karpenter.sh/nodepool"] != "default" || n.Status.Allocatable.Pods().Value() != 20 {
		t.Errorf("the node is not as its user data says: %v, %v", n.Labels, n.Status.Allocatable)
	}
	if !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "karpenter.sh/unregistered" }) {
		t.Errorf("the node has no taint of its user data: %v", n.Spec.Taints)
	}
	kubetest.Within(t, 10*time.Second, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(n), n); err != nil {
			return err
		}
		if q := n.Status.Allocatable["nvidia.com/gpu"]; q.Value() != 1 {
			return fmt.Errorf("no GPU: %v", n.Status.Allocatable)
		}
		return nil
	})
	untaint(t, c, n)
	pod(t, c, ns, "p", "works")
	running(t, c, ns, "p")
	if err := c.Delete(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	// A kubelet does not recreate its Node, and Kubernetes collects the pods of a node that is gone, in its time.
	if os.Getenv(big) == "" {
		return
	}
	kubetest.Within(t, 2*time.Minute, func() error {
		var p corev1.Pod
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "p"}, &p); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the pod outlives its node (%w)", err)
		}
		return nil
	})
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(n), n); !apierrors.IsNotFound(err) {
		t.Errorf("the node is back (%v)", err)
	}
}

func TestADeadMachineFallsSilent(t *testing.T) {
	needsGrace(t)
	c, ns := kubetest.Client(t), kubetest.Namespace(t)
	f := fleet(t, kubelet.Delays{})
	// When every node is silent the cluster takes itself for the unhealthy one and evicts no pod; so one is well.
	for _, name := range []string{"dies", "lives"} {
		if err := f.Boot(machine(name)); err != nil {
			t.Fatal(err)
		}
	}
	ready(t, c, "lives", corev1.ConditionTrue)
	untaint(t, c, ready(t, c, "dies", corev1.ConditionTrue))
	pod(t, c, ns, "p", "dies")
	running(t, c, ns, "p")
	if err := f.Die(t.Context(), "i-dies"); err != nil {
		t.Fatal(err)
	}
	n := ready(t, c, "dies", corev1.ConditionUnknown)
	kubetest.Within(t, 30*time.Second, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(n), n); err != nil {
			return err
		}
		if !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == "node.kubernetes.io/unreachable" && t.Effect == corev1.TaintEffectNoExecute
		}) {
			return fmt.Errorf("not tainted as unreachable: %v", n.Spec.Taints)
		}
		var p corev1.Pod
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "p"}, &p); err != nil {
			return err
		}
		if p.DeletionTimestamp == nil {
			return fmt.Errorf("the pod was not evicted")
		}
		return nil
	})
	if err := f.Recover(t.Context(), "i-dies"); err == nil {
		t.Error("a dead machine recovered")
	}
}

func TestAMachineLosesItsNetworkAndRecovers(t *testing.T) {
	needsGrace(t)
	c, ns := kubetest.Client(t), kubetest.Namespace(t)
	f := fleet(t, kubelet.Delays{})
	if err := f.Boot(machine("cut")); err != nil {
		t.Fatal(err)
	}
	untaint(t, c, ready(t, c, "cut", corev1.ConditionTrue))
	// This pod bears it when its node is unreachable.
	if err := c.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "stays"},
		Spec: corev1.PodSpec{
			Containers:   []corev1.Container{{Name: "c", Image: "c"}},
			NodeSelector: map[string]string{"kubernetes.io/hostname": "cut"},
		},
	}); err != nil {
		t.Fatal(err)
	}
	running(t, c, ns, "stays")
	if err := f.LoseNetwork(t.Context(), "i-cut"); err != nil {
		t.Fatal(err)
	}
	ready(t, c, "cut", corev1.ConditionUnknown)
	if err := f.Recover(t.Context(), "i-cut"); err != nil {
		t.Fatal(err)
	}
	ready(t, c, "cut", corev1.ConditionTrue)
	running(t, c, ns, "stays")
}

func TestFaults(t *testing.T) {
	c := kubetest.Client(t)
	f := fleet(t, kubelet.Delays{})
	for name, faults := range map[string]kubelet.Faults{
		"dark":     {NeverBoots: true},
		"lone":     {NeverRegisters: true},
		"unready":  {NeverReady: true},
		"careless": {},
	} {
		m := machine(name)
		m.Faults = faults
		if name == "careless" {
			m.UserData = []byte("#!/bin/sh\necho hello\n")
		}
		if err := f.Boot(m); err != nil {
			t.Fatal(err)
		}
	}
	ready(t, c, "unready", corev1.ConditionFalse)
	want := map[string]kubelet.State{"i-dark": kubelet.Stuck, "i-lone": kubelet.Stuck, "i-unready": kubelet.Running, "i-careless": kubelet.Stuck}
	kubetest.Within(t, 10*time.Second, func() error {
		for _, m := range f.Machines() {
			if m.State != want[m.ID] {
				return fmt.Errorf("machine %s is %s (%s), want %s", m.ID, m.State, m.Why, want[m.ID])
			}
		}
		return nil
	})
	// kwok has played everything it wants to, and the node is still not ready.
	kubetest.Within(t, 20*time.Second, func() error {
		return c.Get(t.Context(), client.ObjectKey{Namespace: "kube-node-lease", Name: "unready"}, &coordinationv1.Lease{})
	})
	ready(t, c, "unready", corev1.ConditionFalse)
}

func TestAdoptTakesOverWhatAnEarlierRunLeft(t *testing.T) {
	c := kubetest.Client(t)
	first := fleet(t, kubelet.Delays{})
	for _, name := range []string{"stays-up", "is-dead"} {
		if err := first.Boot(machine(name)); err != nil {
			t.Fatal(err)
		}
		ready(t, c, name, corev1.ConditionTrue)
	}
	if err := first.Die(t.Context(), "i-is-dead"); err != nil {
		t.Fatal(err)
	}
	second := fleet(t, kubelet.Delays{})
	if n, err := second.Adopt(t.Context()); err != nil || n < 2 {
		t.Fatalf("adopted %d, %v", n, err)
	}
	got := map[string]kubelet.State{}
	for _, m := range second.Machines() {
		got[m.ID] = m.State
	}
	if got["i-stays-up"] != kubelet.Running || got["i-is-dead"] != kubelet.Dead {
		t.Errorf("got %v", got)
	}
	if id, ok := second.Find("aws:///us-west-2a/i-stays-up"); !ok || id != "i-stays-up" {
		t.Errorf("found %q, %t by the provider ID", id, ok)
	}
	for _, m := range second.Machines() {
		if id, ok := second.Find("node/" + m.Node); !ok || id != m.ID {
			t.Errorf("found %q, %t by the name of node %s as kubectl prints it", id, ok, m.Node)
		}
	}
}

// big is the variable that asks for the test of many machines, which takes minutes.
const big = "TENON_TEST_BIG"

func TestAThousandMachinesAndFiveThousandPods(t *testing.T) {
	if os.Getenv(big) == "" {
		t.Skipf("set %s=1 to run it", big)
	}
	const machines, deployments, replicas = 1000, 10, 500
	c, ns := kubetest.Client(t), kubetest.Namespace(t)
	f := fleet(t, kubelet.Delays{})
	start := time.Now()
	for i := range machines {
		m := machine(fmt.Sprintf("n%04d", i))
		m.UserData = []byte("#!/bin/bash\n/etc/eks/bootstrap.sh 'demo'\n")
		if err := f.Boot(m); err != nil {
			t.Fatal(err)
		}
	}
	var nodes corev1.NodeList
	kubetest.Within(t, 5*time.Minute, func() error {
		time.Sleep(500 * time.Millisecond) // listing a thousand nodes costs what is measured
		if err := c.List(t.Context(), &nodes); err != nil {
			return err
		}
		n := 0
		for _, node := range nodes.Items {
			if slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
			}) {
				n++
			}
		}
		if n != machines {
			return fmt.Errorf("%d nodes are ready", n)
		}
		return nil
	})
	t.Logf("%d nodes ready after %s", machines, time.Since(start).Round(100*time.Millisecond))
	start = time.Now()
	var made sync.WaitGroup
	for i := range deployments {
		made.Go(func() {
			labels := map[string]string{"app": fmt.Sprint("d", i)}
			if err := c.Create(t.Context(), &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: labels["app"]},
				Spec: appsv1.DeploymentSpec{
					Replicas: new(int32(replicas)), Selector: &metav1.LabelSelector{MatchLabels: labels},
					Template: corev1.PodTemplateSpec{
						ObjectMeta: metav1.ObjectMeta{Labels: labels},
						Spec: corev1.PodSpec{Containers: []corev1.Container{{
							Name: "c", Image: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}},
						}}},
					},
				},
			}); err != nil {
				t.Error(err)
			}
		})
	}
	made.Wait()
	kubetest.Within(t, 8*time.Minute, func() error {
		time.Sleep(2 * time.Second)
		var l appsv1.DeploymentList
		if err := c.List(t.Context(), &l, client.InNamespace(ns)); err != nil {
			return err
		}
		n := int32(0)
		for _, d := range l.Items {
			n += d.Status.ReadyReplicas
		}
		if n != deployments*replicas {
			return fmt.Errorf("%d pods are ready", n)
		}
		return nil
	})
	t.Logf("%d pods ready after %s", deployments*replicas, time.Since(start).Round(100*time.Millisecond))
	if err := c.List(t.Context(), &nodes); err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes.Items {
		if len(n.Spec.Taints) > 0 {
			t.Errorf("node %s is tainted: %v", n.Name, n.Spec.Taints)
		}
	}
}
