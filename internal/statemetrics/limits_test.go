package statemetrics_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/statemetrics"
)

// Limits follow pods as they are bound, change, end and go; DaemonSets' count twice.
func TestLimits(t *testing.T) {
	limit := func(cpu, hugePages int64) amount.List {
		return amount.Of(amount.Entry{Name: amount.CPU, Value: cpu * amount.Unit}, amount.Entry{Name: "hugepages-2Mi", Value: hugePages * amount.Unit})
	}
	l := statemetrics.NewLimits()
	was := map[string]*world.Pod{}
	is := func(name, node, daemon string, done bool, limits amount.List) {
		p := &world.Pod{Key: world.Key{Namespace: "d", Name: name}, Node: node, DaemonSet: daemon, Done: done}
		l.Heard(cluster.Change{Kind: cluster.Pod, Was: was[name], Is: p, Limits: limits})
		was[name] = p
	}
	is("web", "", "", false, limit(9, 9))
	is("web", "n", "", false, limit(2, 4))
	is("log", "n", "log", false, limit(1, 0))
	is("free", "n", "", false, nil)
	is("done", "n", "", false, limit(5, 5))
	is("done", "n", "", true, limit(5, 5))
	is("gone", "n", "", false, limit(7, 7))
	l.Heard(cluster.Change{Kind: cluster.Pod, Was: was["gone"]})
	l.Heard(cluster.Change{Kind: cluster.Node, Name: "n"})
	is("resized", "n", "", false, limit(8, 0))
	is("resized", "n", "", false, limit(1, 0))
	l.Heard(cluster.Change{Kind: cluster.Pod, Was: was["resized"], Is: was["resized"]})

	m, scrape := set(t)
	for _, name := range statemetrics.LimitNames() {
		m.Replace(name, collect(l.Each(small(t), keys, name)))
	}
	node := "capacity_type=spot,instance_type=big,managed=true,node_name=n,nodepool=p"
	want := []string{
		"nodes_total_daemon_limits{" + node + ",resource_type=cpu,zone=z1} 1",
		"nodes_total_daemon_limits{" + node + ",resource_type=hugepages_2mi,zone=z1} 0",
		"nodes_total_pod_limits{" + node + ",resource_type=cpu,zone=z1} 4",
		"nodes_total_pod_limits{" + node + ",resource_type=hugepages_2mi,zone=z1} 4",
	}
	if diff := cmp.Diff(want, scrape("karpenter_nodes_total")); diff != "" {
		t.Error(diff)
	}
}

// Limits stay as they are when it is not the pod that changes but its volume or its Job.
func TestLimitsStay(t *testing.T) {
	key := world.Key{Namespace: "d", Name: "p"}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "work", UID: "1", Controller: new(true)}}
	pod.Spec.NodeName = "n"
	pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}}
	pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}}

	c, l := cluster.New(time.Now), statemetrics.NewLimits()
	changes := 0
	c.Listen(func(change cluster.Change) {
		if change.Kind == cluster.Pod && change.Is != nil {
			changes++
		}
		l.Heard(change)
	})
	c.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	series := func() int { return len(collect(l.Each(c.World(), keys, metric.NodesPodLimits))) }
	for i, step := range []struct {
		why  string
		do   func()
		want int
	}{
		{"It is bound.", func() { c.SetPod(pod) }, 1},
		{"Its volume is bound.", func() {
			c.SetVolumeClaim(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "c"}})
		}, 1},
		{"Its Job is suspended.", func() {
			c.SetJob(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "work", UID: "1"}, Spec: batchv1.JobSpec{Suspend: new(true)}})
		}, 1},
		{"It has no limit any more.", func() {
			pod.Spec.Containers[0].Resources.Limits = nil
			c.SetPod(pod)
		}, 0},
	} {
		step.do()
		if got := series(); got != step.want || changes != i+1 {
			t.Errorf("%s %d series after %d changes of the pod, want %d after %d", step.why, got, changes, step.want, i+1)
		}
	}
}

// A decision that is being made has a series, which goes with it.
func TestPasses(t *testing.T) {
	now := time.Unix(at, 0)
	passes := statemetrics.NewPasses(func() time.Time { return now })
	first := passes.Begin("provisioner", "w1")
	now = now.Add(3 * time.Second)
	second := passes.Begin("disruption", "w2")
	now = now.Add(time.Second)
	m, scrape := set(t)
	look := func(why string, want ...string) {
		t.Helper()
		m.Replace(metric.SchedulerUnfinished, passes.Samples()[metric.SchedulerUnfinished])
		if diff := cmp.Diff(want, scrape("karpenter_scheduler_unfinished")); diff != "" {
			t.Errorf("%s\n%s", why, diff)
		}
	}
	look("Both are told.", "scheduler_unfinished_work_seconds{controller=disruption,scheduling_id=w2} 1", "scheduler_unfinished_work_seconds{controller=provisioner,scheduling_id=w1} 4")
	first()
	look("One has ended.", "scheduler_unfinished_work_seconds{controller=disruption,scheduling_id=w2} 1")
	second()
	look("None is left.")
}
