package shadow

import (
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/observe"
)

// shadowed is a shadow of a cluster with one pool and one pod that waits, and what it says.
type shadowed struct {
	*Controller

	now   time.Time
	lines []string
	pool  *v1.NodePool
}

func newShadowed(t *testing.T) *shadowed {
	t.Helper()
	metrics, err := metric.New(prometheus.NewRegistry(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &shadowed{now: time.Unix(start, 0)}
	now := func() time.Time { return s.now }
	s.Controller = &Controller{
		Cluster: cluster.New(now), Journal: journal.New(4, "v1", nil), Metrics: metrics, Now: now,
		Log: funcr.New(func(_, line string) { s.lines = append(s.lines, line) }, funcr.Options{}),
	}
	s.Listen()
	s.pool = &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	s.pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	s.Cluster.SetNodePool(s.pool)
	s.Cluster.SetPod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", UID: "a"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}},
	})
	return s
}

// sell publishes what the pool may buy.
func (s *shadowed) sell() {
	s.Cluster.Publish(world.Catalog{
		Template: observe.TemplateOf(*s.pool.Spec.Template.Spec.NodeClassRef, nil),
		Shapes: []world.Shape{{
			Name: "small", Capacity: amount.Of(amount.Entry{Name: amount.CPU, Value: 4 * amount.Unit}, amount.Entry{Name: amount.Memory, Value: (8 << 30) * amount.Unit}, amount.Entry{Name: amount.Pods, Value: 20 * amount.Unit}),
			Labels: label.SetOf(label.Is(label.InstanceType, "small"), label.Is(label.Arch, "amd64"), label.Is(label.OS, "linux")),
			Offers: []world.Offer{{Zone: "a", CapacityType: label.OnDemand, Price: 70_000}},
		}},
	})
}

func (s *shadowed) said(what string) int {
	n := 0
	for _, l := range s.lines {
		if strings.Contains(l, what) {
			n++
		}
	}
	return n
}

// What all nodes would cost is not told before it is known what may be bought, and as soon as it is.
func TestTheTotalWaitsForCatalogues(t *testing.T) {
	const total, refused = "what the nodes of all pools cost", "would buy nothing for a pod"
	s := newShadowed(t)
	if wait := s.pass(); wait != catalogueLookEvery || len(s.lines) > 0 {
		t.Errorf("with nothing known it looks again after %v, want %v, and says %q", wait, catalogueLookEvery, s.lines)
	}
	s.now = s.now.Add(time.Second)
	s.sell()
	s.pass()
	if s.said(total) != 1 || s.said(refused) > 0 || s.said("would buy a node") != 1 {
		t.Errorf("with all known it says %q", s.lines)
	}
}

// A pool of which nothing can be learned holds the others up for a while only.
func TestAPoolThatStaysUnknown(t *testing.T) {
	const total, unknown = "what the nodes of all pools cost", "still not known"
	s := newShadowed(t)
	s.pass()
	s.now = s.now.Add(blindFor)
	s.pass()
	s.pass()
	if s.said(total) != 0 || s.said(unknown) != 1 {
		t.Errorf("with a pool that stays unknown it says %q", s.lines)
	}
	s.sell()
	s.now = s.now.Add(idle)
	if s.pass(); s.said(total) != 1 {
		t.Errorf("once it is known it says %q", s.lines)
	}
}

// A pod that is to run on a node that is there keeps its place in the next plan, as with the controller that acts.
func TestPlacesAreKept(t *testing.T) {
	s := newShadowed(t)
	s.sell()
	s.Cluster.SetNode(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n"},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("20")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	})
	s.pass()
	if p := s.Cluster.World().Pod(world.Key{Namespace: "default", Name: "a"}); p == nil || p.Planned != "n" {
		t.Errorf("the pod is planned %+v, want on n; it says %q", p, s.lines)
	}
}

// runs adds a node of the pool with one pod.
func (s *shadowed) runs(name string) {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{v1.LabelNodePool: "default"}}}
	claim.Spec.NodeClassRef, claim.Spec.ExpireAfter = s.pool.Spec.Template.Spec.NodeClassRef, v1.Never
	claim.Status.ProviderID, claim.Status.NodeName = "id-"+name, name
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		claim.Conditions().True(kind, "", "", time.Unix(start-3600, 0))
	}
	s.Cluster.SetClaim(claim)
	room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("20")}
	s.Cluster.SetNode(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{
			v1.LabelNodePool: "default", v1.LabelRegistered: "true", v1.LabelInitialized: "true", label.InstanceType: "small", label.Zone: "a", label.CapacityType: label.OnDemand,
			label.Hostname: name, label.Arch: "amd64", label.OS: "linux",
		}},
		Spec:   corev1.NodeSpec{ProviderID: "id-" + name},
		Status: corev1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	})
	s.Cluster.SetPod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "on-" + name, UID: types.UID("on-" + name), OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: new(true)},
		}},
		Spec: corev1.PodSpec{NodeName: name, Containers: []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	})
}

// Which nodes could be done without is told once, also where their pods would have to move, and kept with all that it was decided of.
func TestMovesAreTold(t *testing.T) {
	const moves = "would give nodes back and move their pods"
	s := newShadowed(t)
	s.pool.Spec.Disruption = v1.Disruption{ConsolidateAfter: v1.After(0), ConsolidationPolicy: v1.WhenEmptyOrUnderutilized, Budgets: []v1.Budget{{Nodes: "100%"}}}
	s.Cluster.SetNodePool(s.pool)
	s.Cluster.DeletePod(world.Key{Namespace: "default", Name: "a"})
	s.sell()
	s.runs("n1")
	s.runs("n2")
	for range 5 {
		s.now = s.now.Add(5 * time.Second)
		s.pass()
	}
	if n := s.said(moves); n != 1 || s.said(`"pods"=1`) != 1 || s.said(`"saving"="$0.0700/h"`) != 1 {
		t.Errorf("it says so %d times: %q", n, s.lines)
	}
	e, ok := s.Journal.Last(journal.GiveBack)
	if !ok || !e.Shadow || len(e.Plan.Back()) != 1 {
		t.Errorf("kept is %+v", e)
	}
	s.Stay = true
	s.now = s.now.Add(time.Minute)
	s.pass()
	if e, _ := s.Journal.Last(journal.GiveBack); len(e.Plan.Back()) != 0 {
		t.Errorf("where pods are not to be moved it gives back %v", e.Plan.Back())
	}
}
