package cluster_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
)

// big is the variable that asks for tests of large clusters.
const big = "TENON_TEST_BIG"

// The most that the state of a large cluster may take.
const (
	manyNodes, manyPods = 5_000, 150_000
	mostHeap            = 600 << 20
	mostSnapshot        = time.Millisecond
)

// wired is an object as a watch delivers it: every string of it is its own.
func wired[T any, P interface {
	*T
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}](t *testing.T, o P) P {
	t.Helper()
	data, err := o.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	out := P(new(T))
	if err := out.Unmarshal(data); err != nil {
		t.Fatal(err)
	}
	return out
}

// A cluster state of 5,000 nodes and 150,000 pods stays small, and a snapshot costs what changed.
func TestALargeClusterFits(t *testing.T) {
	if os.Getenv(big) == "" {
		t.Skipf("set %s=1 to run it", big)
	}
	before := heap()
	c := cluster.New(clock.Wall)
	start := time.Now()
	for i := range manyNodes {
		c.SetNode(wired(t, nodeOf(i)))
	}
	for i := range manyPods {
		c.SetPod(wired(t, podOf(i)))
	}
	fed := time.Since(start)
	w := c.World()
	after := heap()
	if len(w.Places()) != manyNodes || len(w.Pods()) != manyPods {
		t.Fatalf("the cluster state has %d nodes and %d pods", len(w.Places()), len(w.Pods()))
	}
	t.Logf("%d nodes and %d pods take %d MiB of heap; feeding them took %v, %v a pod", manyNodes, manyPods, (after-before)>>20, fed, fed/manyPods)
	if after-before > mostHeap {
		t.Errorf("that is more than %d MiB", mostHeap>>20)
	}
	least := time.Hour
	for i := range 50 {
		p := podOf(i * 7)
		p.Labels["changed"] = "yes"
		c.SetPod(p)
		start := time.Now()
		w = c.World()
		least = min(least, time.Since(start))
	}
	t.Logf("a snapshot after one pod changed takes %v at best", least)
	if least > mostSnapshot {
		t.Errorf("that is more than %v", mostSnapshot)
	}
	runtime.KeepAlive(w)
}

// heap is what is alive now.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func nodeOf(i int) *corev1.Node {
	have := corev1.ResourceList{"cpu": resource.MustParse("15890m"), "memory": resource.MustParse("62Gi"), "ephemeral-storage": resource.MustParse("95Gi"), "pods": resource.MustParse("110")}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("ip-10-%d-%d-%d.ec2.internal", i>>16, i>>8&255, i&255), UID: types.UID(fmt.Sprintf("3f2c7d1e-0000-4000-8000-%012d", i)),
			Labels: map[string]string{
				"kubernetes.io/hostname": fmt.Sprint("ip-10-", i), "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "karpenter.sh/nodepool": "default",
				"node.kubernetes.io/instance-type": "m5.4xlarge", "topology.kubernetes.io/zone": fmt.Sprint("us-east-1", string(rune('a'+i%3))), "topology.kubernetes.io/region": "us-east-1",
				"karpenter.sh/capacity-type": "spot", "karpenter.k8s.aws/instance-family": "m5", "karpenter.k8s.aws/instance-size": "4xlarge", "karpenter.sh/initialized": "true",
			},
		},
		Spec: corev1.NodeSpec{ProviderID: fmt.Sprintf("aws:///us-east-1a/i-%017d", i)},
		Status: corev1.NodeStatus{
			Capacity: have, Allocatable: have,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}},
		},
	}
}

// podOf is one of a deployment of fifty.
func podOf(i int) *corev1.Pod {
	app := fmt.Sprint("service-", i/50)
	spread := &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	ask := corev1.ResourceList{"cpu": resource.MustParse(fmt.Sprint(100+i/50%9*50, "m")), "memory": resource.MustParse("256Mi")}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprint("team-", i/50%100), Name: fmt.Sprintf("%s-7d4b9c6f5-%05d", app, i), UID: types.UID(fmt.Sprintf("9b1d3c5a-0000-4000-8000-%012d", i)),
			Labels:          map[string]string{"app": app, "pod-template-hash": "7d4b9c6f5", "team": fmt.Sprint("team-", i/50%100), "version": "v1"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-7d4b9c6f5", UID: "1"}},
		},
		Spec: corev1.PodSpec{
			NodeName: nodeOf(i % manyNodes).Name,
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example/team/" + app + ":v1", Resources: corev1.ResourceRequirements{Requests: ask, Limits: ask},
				Env: []corev1.EnvVar{{Name: "MODE", Value: "production"}, {Name: "LOG", Value: "info"}},
			}},
			Tolerations: []corev1.Toleration{
				{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
				{Key: "node.kubernetes.io/unreachable", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
			},
			TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: spread}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}
