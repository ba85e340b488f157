package survey_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/survey"
)

// Limits follow pods as they are bound, change, end and go; DaemonSets' count twice.
func TestLimits(t *testing.T) {
	limit := func(cpu, hugePages int64) amount.List {
		return amount.Of(amount.Entry{Name: amount.CPU, Value: cpu * amount.Unit}, amount.Entry{Name: "hugepages-2Mi", Value: hugePages * amount.Unit})
	}
	l := survey.NewLimits()
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

	m, scrape := set(t)
	for _, name := range survey.LimitNames() {
		m.Replace(name, collect(l.Each(town(t), keys, name)))
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

// A decision that is being made has a series, which goes with it.
func TestPasses(t *testing.T) {
	now := time.Unix(at, 0)
	passes := survey.NewPasses(func() time.Time { return now })
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
