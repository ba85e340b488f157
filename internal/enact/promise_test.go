package enact_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/observe"
)

func TestMain(m *testing.M) { kubetest.Main(m, kubetest.Scheduler) }

// limit is how long kube-scheduler may take on a slow computer.
const limit = 30 * time.Second

// stage is a namespace with pods and the nodes of a test.
type stage struct {
	*testing.T
	client    client.Client
	namespace string
	enact     *enact.Enactor
}

func newStage(t *testing.T) *stage {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	if err := c.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	return &stage{T: t, client: c, namespace: namespace, enact: &enact.Enactor{Client: c, Log: logr.Discard(), Promises: true, Now: clock.Wall}}
}

// pod makes a pod and waits until kube-scheduler has found no place for it.
func (s *stage) pod(name, cpu string, change ...func(*corev1.PodSpec)) {
	s.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"for": s.namespace},
			Containers: []corev1.Container{{
				Name: "c", Image: "none", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
			}},
		},
	}
	for _, f := range change {
		f(&p.Spec)
	}
	if err := s.client.Create(s.Context(), p); err != nil {
		s.Fatal(err)
	}
	kubetest.Within(s, limit, func() error {
		if got := s.get(name); !observe.Pod(got).Waiting {
			return fmt.Errorf("kube-scheduler has not looked at %s: %v", name, got.Status.Conditions)
		}
		return nil
	})
}

func (s *stage) get(name string) *corev1.Pod {
	s.Helper()
	p := &corev1.Pod{}
	if err := s.client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, p); err != nil {
		s.Fatal(err)
	}
	return p
}

// node makes a node that takes no pods yet.
func (s *stage) node(name, cpu string) {
	s.Helper()
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"for": s.namespace}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: "wait", Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourcePods: resource.MustParse("10")},
		},
	}
	if err := s.client.Create(s.Context(), n); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = s.client.Delete(context.Background(), n) })
}

// open lets pods onto a node.
func (s *stage) open(name string) {
	s.Helper()
	err := s.client.Patch(s.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"taints":null}}`)))
	if err != nil {
		s.Fatal(err)
	}
}

// world is what the API server says now of the pods and nodes.
func (s *stage) world(nodes ...string) *world.World {
	s.Helper()
	b := world.NewBuilder()
	var pods corev1.PodList
	if err := s.client.List(s.Context(), &pods, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	for i := range pods.Items {
		if err := b.SetPod(observe.Pod(&pods.Items[i])); err != nil {
			s.Fatal(err)
		}
	}
	for _, name := range nodes {
		if err := b.SetNode(world.Node{Name: name}); err != nil {
			s.Fatal(err)
		}
	}
	return b.Snapshot(0)
}

// plan sends pods, told in turn with their nodes, where it says.
func (s *stage) plan(podsAndNodes ...string) plan.Plan {
	var p plan.Plan
	for i := 0; i < len(podsAndNodes); i += 2 {
		p.Filled = append(p.Filled, plan.Fill{Pods: []world.Key{{Namespace: s.namespace, Name: podsAndNodes[i]}}, Node: podsAndNodes[i+1]})
	}
	return p
}

func (s *stage) nominated(pod, want, why string) {
	s.Helper()
	if got := s.get(pod).Status.NominatedNodeName; got != want {
		s.Errorf("%s is nominated for %q, want %q: %s", pod, got, want, why)
	}
}

func TestSchedulerFollowsPromises(t *testing.T) {
	s := newStage(t)
	s.pod("small", "2")
	s.pod("large", "4")
	s.node("follow-small", "2")
	s.node("follow-large", "4")
	nodes := []string{"follow-small", "follow-large"}
	s.enact.Promise(t.Context(), s.world(nodes...), s.plan("small", "follow-small", "large", "follow-large"), 0)
	// By itself kube-scheduler puts the small pod where most is free, which is where the large one has to go.
	s.open("follow-large")
	s.open("follow-small")
	kubetest.Within(t, limit, func() error {
		for pod, node := range map[string]string{"small": "follow-small", "large": "follow-large"} {
			if got := s.get(pod).Spec.NodeName; got != node {
				return fmt.Errorf("%s runs on %q, want %s", pod, got, node)
			}
		}
		return nil
	})
}

func TestPromisesFollowThePlan(t *testing.T) {
	s := newStage(t)
	s.pod("a", "1")
	nodes := []string{"keep-1", "keep-2"}
	s.enact.Promise(t.Context(), s.world(nodes...), s.plan("a", "keep-1"), 0)
	s.nominated("a", "keep-1", "the plan says so")
	if got := observe.Pod(s.get("a")); !got.Promised || got.Nominated != "keep-1" {
		t.Errorf("after a restart it would not be known that the promise is ours: %+v", got)
	}
	s.enact.Promise(t.Context(), s.world(nodes...), s.plan("a", "keep-2"), 0)
	s.nominated("a", "keep-2", "the plan has changed")
	s.enact.Promise(t.Context(), s.world("keep-1"), s.plan(), 0)
	s.nominated("a", "", "the node is gone")
	s.enact.Promises = false
	s.enact.Promise(t.Context(), s.world(nodes...), s.plan("a", "keep-1"), 0)
	s.nominated("a", "", "promises are switched off")
}

func TestPromisesLeaveOthersAlone(t *testing.T) {
	s := newStage(t)
	s.pod("a", "1")
	before := s.world("own", "theirs")
	body := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"nominatedNodeName":"theirs"}}`))
	if err := s.client.Status().Patch(t.Context(), s.get("a"), body, client.FieldOwner("kube-scheduler")); err != nil {
		t.Fatal(err)
	}
	s.enact.Promise(t.Context(), before, s.plan("a", "own"), 0)
	s.nominated("a", "theirs", "somebody else was faster than the cluster state")
	s.enact.Promise(t.Context(), s.world("own", "theirs"), s.plan("a", "own"), 0)
	s.nominated("a", "theirs", "the cluster state shows somebody else's")
	s.enact.Promise(t.Context(), s.world("own", "theirs"), s.plan(), 0)
	s.nominated("a", "theirs", "it is not ours to take back")
}
