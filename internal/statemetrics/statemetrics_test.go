package statemetrics_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/api/autoscaling/v1beta1"
	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/statemetrics"
)

const at = 1_000_000

var keys = []string{label.Zone, label.NodePool, label.InstanceType, label.CapacityType}

// set is the metrics, and a function that shows what a scrape finds of those whose names begin with a prefix.
func set(t *testing.T) (*metric.Set, func(prefix string) []string) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	m, err := metric.New(registry, metric.NodeLabels(keys))
	if err != nil {
		t.Fatal(err)
	}
	return m, func(prefix string) []string {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, f := range families {
			if !strings.HasPrefix(f.GetName(), prefix) {
				continue
			}
			for _, one := range f.GetMetric() {
				var labels []string
				for _, l := range one.GetLabel() {
					if l.GetValue() != "" {
						labels = append(labels, l.GetName()+"="+l.GetValue())
					}
				}
				value := one.GetGauge().GetValue() + one.GetCounter().GetValue() + one.GetHistogram().GetSampleSum() + one.GetSummary().GetSampleSum()
				if n := one.GetHistogram().GetSampleCount() + one.GetSummary().GetSampleCount(); n == 0 && (one.Histogram != nil || one.Summary != nil) {
					continue
				}
				out = append(out, fmt.Sprintf("%s{%s} %v", strings.TrimPrefix(f.GetName(), "karpenter_"), strings.Join(labels, ","), value))
			}
		}
		return out
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// small is a pool with a node that runs a pod and a daemon, and a pod that waits.
func small(t *testing.T) *world.World {
	t.Helper()
	cpu := func(n int64) amount.List { return amount.Of(amount.Entry{Name: amount.CPU, Value: n * amount.Unit}) }
	pool := world.PoolID{Kind: world.NodePool, Name: "p"}
	labels := map[string]string{label.Zone: "z1", label.NodePool: "p", label.InstanceType: "big", label.CapacityType: "spot"}
	b := world.NewBuilder()
	must(t,
		b.SetPool(world.Pool{ID: pool, Template: "t", Limits: cpu(100), Disruption: world.PoolDisruption{Budgets: []world.Budget{{Nodes: "1"}}}}),
		b.SetCatalog(world.Catalog{Template: "t", Version: "1", Shapes: []world.Shape{{
			Name: "big", Capacity: cpu(8), Offers: []world.Offer{{Zone: "z1", CapacityType: "spot", Price: 250_000}, {Zone: "z2", CapacityType: "spot", Price: 300_000, Gone: true, Refused: 250}},
		}}}),
		b.SetClaim(world.Claim{Name: "c", Pool: pool, Node: "n", Launched: true, Registered: true, Initialized: true}),
		b.SetNode(world.Node{Name: "n", Pool: pool, Claim: "c", Ready: true, Created: at - 60, Labels: labels, Capacity: cpu(8), Allocatable: cpu(6)}),
		b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "web"}, Node: "n", Requests: cpu(2), Started: at - 10, ReadyToServe: true}),
		b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "log"}, Node: "n", Requests: cpu(1), DaemonSet: "log", Created: at - 5}),
		b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "new"}, Created: at - 7, Waiting: true, NodeSelector: label.Set{label.Is(label.Zone, "z2")}}),
		b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "old"}, Node: "n", Done: true}),
	)
	return b.Snapshot(at)
}

// collect keeps samples whose labels are used again.
func collect(samples iter.Seq[metric.Sample]) (out []metric.Sample) {
	for s := range samples {
		s.Labels = slices.Clone(s.Labels)
		out = append(out, s)
	}
	return out
}

// Every metric of the state has the labels that the table says, and the values that the World says.
func TestOf(t *testing.T) {
	m, scrape := set(t)
	samples := statemetrics.Of(small(t), map[world.PoolID]amount.List{{Kind: world.NodePool, Name: "p"}: amount.Of(amount.Entry{Name: amount.Nodes, Value: amount.Unit})})
	for _, name := range statemetrics.Names() {
		if len(samples[name]) == 0 {
			t.Errorf("no series of %s", name)
		}
		m.Replace(name, samples[name])
	}
	if len(samples) != len(statemetrics.Names()) {
		t.Errorf("%d metrics were given and %d are named", len(samples), len(statemetrics.Names()))
	}
	for _, name := range statemetrics.EachNames() {
		each := collect(statemetrics.Each(small(t), keys, name))
		if len(each) == 0 {
			t.Errorf("no series of %s", name)
		}
		m.Replace(name, each)
	}
	got := slices.Concat(scrape("karpenter_nodepools"), scrape("karpenter_nodes_"), scrape("karpenter_pods_un"), scrape("karpenter_pods_state"),
		scrape("karpenter_cluster_utilization"), scrape("karpenter_scheduler_pending"), scrape("karpenter_cloudprovider_instance_type"), scrape("tenon_offering"))
	node := "capacity_type=spot,instance_type=big,managed=true,node_name=n,nodepool=p"
	want := []string{
		"nodepools_allowed_disruptions{nodepool=p,reason=Drifted} 1",
		"nodepools_allowed_disruptions{nodepool=p,reason=Empty} 1",
		"nodepools_allowed_disruptions{nodepool=p,reason=Underutilized} 1",
		"nodepools_cost_total{nodepool=p} 0.25",
		"nodepools_limit{nodepool=p,resource_type=cpu} 100",
		"nodepools_nodes_consuming_budgets{nodepool=p,reason=Drifted} 0",
		"nodepools_nodes_consuming_budgets{nodepool=p,reason=Empty} 0",
		"nodepools_nodes_consuming_budgets{nodepool=p,reason=Underutilized} 0",
		"nodepools_usage{nodepool=p,resource_type=nodes} 1",
		"nodes_allocatable{" + node + ",resource_type=cpu,zone=z1} 6",
		"nodes_current_lifetime_seconds{" + node + ",zone=z1} 60",
		"nodes_system_overhead{" + node + ",resource_type=cpu,zone=z1} 2",
		"nodes_total_daemon_requests{" + node + ",resource_type=cpu,zone=z1} 1",
		"nodes_total_pod_requests{" + node + ",resource_type=cpu,zone=z1} 2",
		"pods_unbound_time_seconds{name=new,namespace=d} 7",
		"pods_unstarted_time_seconds{name=log,namespace=d} 5",
		"pods_unstarted_time_seconds{name=new,namespace=d} 7",
		"pods_state{managed=false,name=new,namespace=d,phase=Pending,ready=false,scheduled=false} 1",
		"pods_state{capacity_type=spot,instance_type=big,managed=true,name=log,namespace=d,node=n,nodepool=p,owner=log,phase=Pending,ready=false,scheduled=true,zone=z1} 1",
		"pods_state{capacity_type=spot,instance_type=big,managed=true,name=web,namespace=d,node=n,nodepool=p,phase=Running,ready=true,scheduled=true,zone=z1} 1",
		"cluster_utilization_percent{resource_type=cpu} 50",
		"scheduler_pending_pods_by_effective_zone_count{controller=provisioner,zone=z2} 1",
		"cloudprovider_instance_type_cpu_cores{instance_type=big} 8",
		"cloudprovider_instance_type_memory_bytes{instance_type=big} 0",
		"cloudprovider_instance_type_offering_available{capacity_type=spot,instance_type=big,zone=z1} 1",
		"cloudprovider_instance_type_offering_available{capacity_type=spot,instance_type=big,zone=z2} 0",
		"cloudprovider_instance_type_offering_price_estimate{capacity_type=spot,instance_type=big,zone=z1} 0.25",
		"cloudprovider_instance_type_offering_price_estimate{capacity_type=spot,instance_type=big,zone=z2} 0.3",
		"tenon_offering_refused_ratio{capacity_type=spot,instance_type=big,zone=z2} 0.25",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A node whose price is not known is counted once, however often one looks.
func TestUnpriced(t *testing.T) {
	m, scrape := set(t)
	pool := world.PoolID{Kind: world.NodePool, Name: "p"}
	b := world.NewBuilder()
	must(t,
		b.SetPool(world.Pool{ID: pool, Template: "t"}),
		b.SetCatalog(world.Catalog{Template: "t", Version: "1", Shapes: []world.Shape{{Name: "big", Offers: []world.Offer{{Zone: "z1", CapacityType: "spot", Price: 1}}}}}),
		b.SetNode(world.Node{Name: "known", Pool: pool, Labels: map[string]string{label.Zone: "z1", label.InstanceType: "big", label.CapacityType: "spot"}}),
		b.SetNode(world.Node{Name: "unknown", Pool: pool, Labels: map[string]string{label.Zone: "z1", label.InstanceType: "odd", label.CapacityType: "spot"}}),
		b.SetNode(world.Node{Name: "foreign"}),
	)
	var u statemetrics.Unpriced
	for range 3 {
		u.Look(m, b.Snapshot(at))
	}
	want := []string{"nodepools_cost_tracker_errors_total{nodepool=p} 1"}
	if diff := cmp.Diff(want, scrape("karpenter_nodepools_cost_tracker")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A pod's life is measured from its making and from when it first waited for us.
func TestPods(t *testing.T) {
	m, scrape := set(t)
	now := time.Unix(at, 0)
	pods := statemetrics.NewPods(m, func() time.Time { return now })
	var lives []statemetrics.Life
	pods.Ran = func(l statemetrics.Life) { lives = append(lives, l) }
	pods.Trace = func(uid string) string { return "trace-" + uid }
	key := world.Key{Namespace: "d", Name: "web"}
	var was *world.Pod
	step := func(wait time.Duration, is world.Pod) {
		now = now.Add(wait)
		is.Key, is.UID, is.Created = key, "1", at
		pods.Heard(cluster.Change{Kind: cluster.Pod, Was: was, Is: &is})
		was = &is
	}
	step(1*time.Second, world.Pod{})
	step(1*time.Second, world.Pod{Waiting: true})
	now = now.Add(time.Second)
	pods.Decided(plan.Plan{New: []plan.Ask{{Pods: []world.Key{key}}}})
	for _, name := range statemetrics.PodNames() {
		m.Replace(name, pods.Samples()[name])
	}
	step(4*time.Second, world.Pod{Node: "n"})
	step(2*time.Second, world.Pod{Node: "n", ReadyToServe: true})
	step(9*time.Second, world.Pod{Node: "n"}) // that it is not ready later is not its start
	running := world.Pod{Key: world.Key{Name: "before"}, UID: "2", Created: 5, Node: "n"}
	pods.Heard(cluster.Change{Kind: cluster.Pod, Is: &running}) // it was not seen waiting
	running.ReadyToServe = true
	pods.Heard(cluster.Change{Kind: cluster.Pod, Is: &running})
	want := []string{
		"pods_bound_duration_seconds{} 7",
		"pods_provisioning_bound_duration_seconds{} 5",
		"pods_provisioning_startup_duration_seconds{} 7",
		"pods_provisioning_unbound_time_seconds{name=web,namespace=d} 1",
		"pods_provisioning_unstarted_time_seconds{name=web,namespace=d} 1",
		"pods_scheduling_decision_duration_seconds{} 1",
		"pods_startup_duration_seconds{} 9",
	}
	if diff := cmp.Diff(want, scrape("karpenter_pods_")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	second := func(n int64) time.Time { return time.Unix(at+n, 0) }
	life := []statemetrics.Life{{Key: key, UID: "1", Node: "n", Created: second(0), Seen: second(2), Decided: second(3), Bound: second(7), Running: second(9)}}
	if diff := cmp.Diff(life, lives); diff != "" {
		t.Errorf("told of is -want +got\n%s", diff)
	}
	if s := pods.Samples(); len(s) != 0 {
		t.Errorf("a pod that runs is still measured: %v", s)
	}
}

// Changes of conditions are counted for the kind and for all kinds together.
func TestConditions(t *testing.T) {
	m, scrape := set(t)
	start := time.Unix(at, 0)
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "1", Labels: map[string]string{v1.LabelNodePool: "p"}}}
	claim.Conditions().Unknown(v1.ConditionLaunched, "Waiting", "", start)
	was, _ := statemetrics.ObjectOf(claim.DeepCopy())
	claim.Conditions().True(v1.ConditionLaunched, "", "", start.Add(3*time.Second))
	is, _ := statemetrics.ObjectOf(claim)
	statemetrics.Moved(m, was, is)
	statemetrics.Moved(m, is, is)
	gone := metav1.NewTime(start.Add(5 * time.Second))
	claim.DeletionTimestamp = &gone
	end, ok := statemetrics.ObjectOf(claim)
	if !ok {
		t.Fatal("a claim has conditions")
	}
	for _, name := range statemetrics.ConditionNames() {
		m.Replace(name, collect(statemetrics.Conditions([]statemetrics.Object{end}, start.Add(10*time.Second), name)))
	}
	statemetrics.Gone(m, end, start.Add(25*time.Second))
	launched := func(lines []string) (out []string) {
		for _, l := range lines {
			if !strings.Contains(l, "type=") || strings.Contains(l, "type=Launched") {
				out = append(out, l)
			}
		}
		return out
	}
	want := []string{
		"operator_nodeclaim_status_condition_count{karpenter_sh_nodepool=p,name=c,reason=Launched,status=True,type=Launched} 1",
		"operator_nodeclaim_status_condition_current_status_seconds{karpenter_sh_nodepool=p,name=c,reason=Launched,status=True,type=Launched} 7",
		"operator_nodeclaim_status_condition_transition_seconds{karpenter_sh_nodepool=p,status=Unknown,type=Launched} 3",
		"operator_nodeclaim_status_condition_transitions_total{karpenter_sh_nodepool=p,reason=Launched,status=True,type=Launched} 1",
		"operator_nodeclaim_termination_current_time_seconds{karpenter_sh_nodepool=p,name=c} 5",
		"operator_nodeclaim_termination_duration_seconds{karpenter_sh_nodepool=p} 20",
	}
	if diff := cmp.Diff(want, launched(scrape("operator_nodeclaim"))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if all := launched(scrape("operator_status_condition_transitions_total")); len(all) != 1 {
		t.Errorf("%v, want the transition for all kinds together as well", all)
	}
}

// Each kind has the labels that its objects have, as Karpenter names them.
func TestConditionsHaveLabelsOfTheirObjects(t *testing.T) {
	m, scrape := set(t)
	ready := []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready"}}
	labels := map[string]string{v1.LabelNodePool: "p", v1.LabelInitialized: "true", v1.LabelNodeClass(awsv1.Group, "EC2NodeClass"): "c"}
	var objects []statemetrics.Object
	for _, o := range []any{
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: "Ready", Status: "True", Reason: "Ready"}}}},
		&v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}, Spec: v1.NodeClaimSpec{NodeClassRef: &v1.NodeClassReference{Name: "c"}}, Status: v1.NodeClaimStatus{Conditions: ready}},
		&v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: v1.NodePoolStatus{Conditions: ready}},
		&awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Status: awsv1.EC2NodeClassStatus{Conditions: ready}},
		&v1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "b"}, Status: v1beta1.CapacityBufferStatus{Conditions: ready}},
	} {
		object, ok := statemetrics.ObjectOf(o)
		if !ok {
			t.Fatalf("%T has no metrics of its conditions", o)
		}
		objects = append(objects, object)
	}
	for _, name := range statemetrics.ConditionNames() {
		m.Replace(name, collect(statemetrics.Conditions(objects, time.Unix(at, 0), name)))
	}
	want := []string{
		"operator_capacitybuffer_status_condition_count{name=b,namespace=shop,reason=Ready,status=True,type=Ready} 1",
		"operator_ec2nodeclass_status_condition_count{name=c,reason=Ready,status=True,type=Ready} 1",
		"operator_node_status_condition_count{karpenter_k8s_aws_ec2nodeclass=c,karpenter_sh_initialized=true,karpenter_sh_nodepool=p,name=n,reason=Ready,status=True,type=Ready} 1",
		"operator_nodeclaim_status_condition_count{karpenter_k8s_aws_ec2nodeclass=c,karpenter_sh_nodepool=p,name=n,reason=Ready,status=True,type=Ready} 1",
		"operator_nodepool_status_condition_count{name=p,reason=Ready,status=True,type=Ready} 1",
	}
	var got []string
	for _, line := range scrape("operator_") {
		if strings.Contains(line, "_status_condition_count{") && !strings.HasPrefix(line, "operator_status") {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A kubelet can write anything into the conditions of its Node, by protobuf even
// bytes that are no UTF-8, and the same condition twice. Its node is counted like any other.
func TestALyingKubelet(t *testing.T) {
	m, scrape := set(t)
	node := func(reason string) *corev1.Node {
		c := corev1.NodeCondition{Type: "Ready\xff", Status: "\xfe", Reason: reason, Message: "\xfd"}
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "1"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{c, c}}}
	}
	was, _ := statemetrics.ObjectOf(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "1"}})
	is, _ := statemetrics.ObjectOf(node("lies \xff\xfe"))
	statemetrics.Moved(m, was, is)
	for _, name := range statemetrics.ConditionNames() {
		m.Replace(name, collect(statemetrics.Conditions([]statemetrics.Object{is}, time.Unix(at, 0), name)))
	}
	if got := scrape("operator_node_status_condition_count"); len(got) != 1 || !strings.Contains(got[0], "reason=lies \ufffd") {
		t.Errorf("the scrape shows %q", got)
	}
}
