package conformance

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/test/stage"
)

// alone is a stage and a class for a check that needs a controller of its own.
func alone(t *testing.T, name string) *story {
	t.Helper()
	if !all() {
		t.Skip("it needs a controller of its own: set TENON_TEST_CONFORMANCE=all to have it as well")
	}
	s := tell(t, stage.Set(t, stage.Options{Name: name}), name)
	class := s.Class()
	class.Name = name // the one of the check before may be on its way out
	s.create(class)
	return s
}

// ownClass has a pool use the class of its name.
func ownClass(p *v1.NodePool) { p.Spec.Template.Spec.NodeClassRef.Name = p.Name }

// over deletes a pool and waits until nothing is left.
func (s *story) over(p *v1.NodePool) {
	s.Helper()
	s.Drop(s.T, p)
	kubetest.Within(s.T, 2*soon, s.Left)
}

// C9: claims whose machines have not joined after fifteen minutes go, and after
// two the pool says that its machines do not come up.
func TestC9(t *testing.T) {
	s := alone(t, "c9")
	s.Break(kubelet.Faults{NeverRegisters: true})
	in := s.Inside(t, 0, kubetest.Config(t))
	p := s.pool(ownClass, fixed(2))
	first := s.has(2)
	for i := range first {
		s.condition(&first[i], v1.ConditionRegistered, metav1.ConditionUnknown, v1.ReasonNodeNotFound)
	}
	in.Stop()
	s.Break(kubelet.Faults{})
	s.Inside(t, 16*time.Minute, kubetest.Config(t))
	s.gone(&first[0], &first[1])
	for i := range first {
		s.ended(&first[i])
	}
	s.condition(p, v1.ConditionNodeRegistrationHealthy, metav1.ConditionFalse, v1.ReasonRegistrationFailed)
	s.condition(p, "Ready", metav1.ConditionTrue, "Ready")
	s.ready(2)
	s.condition(p, v1.ConditionNodeRegistrationHealthy, metav1.ConditionFalse, v1.ReasonRegistrationFailed) // two of four
	s.patch(p, `{"spec":{"template":{"metadata":{"labels":{"team":"other"}}}}}`)
	s.condition(p, v1.ConditionNodeRegistrationHealthy, metav1.ConditionUnknown, "AwaitingReconciliation")
	s.over(p)
}

// ill has a node report for so long that something is wrong with it.
func (s *story) ill(n *corev1.Node, long time.Duration) {
	s.Helper()
	since := metav1.NewTime(time.Now().Add(-long))
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{{
		Type: "StorageReady", Status: corev1.ConditionFalse, Reason: "DiskFailed", LastTransitionTime: since, LastHeartbeatTime: since,
	}}}})
	if err != nil {
		s.Fatal(err)
	}
	if err := s.Client.Status().Patch(s.Context(), n, client.RawPatch("application/strategic-merge-patch+json", patch)); err != nil {
		s.Fatal(err)
	}
}

// C28: one ill node of ten is replaced by force; of three none is, which is said.
func TestC28(t *testing.T) {
	s := alone(t, "c28")
	s.Inside(t, 0, kubetest.Config(t))
	p := s.pool(ownClass, fixed(10))
	claims := s.ready(10)
	pod := s.pod("web", func(p *corev1.Pod) {
		p.Spec.NodeName = claims[0].Status.NodeName
		p.Annotations = map[string]string{v1.AnnotationDoNotDisrupt: "true"}
	})
	s.runs(pod)
	s.ill(s.nodeOf(&claims[0]), 10*time.Minute)
	s.remains(&claims[0], 2*time.Second)
	s.ill(s.nodeOf(&claims[0]), time.Hour)
	s.gone(&claims[0], pod)
	s.ended(&claims[0])

	claims = s.ready(10)
	for i := range 3 {
		s.ill(s.nodeOf(&claims[i]), 29*time.Minute)
	}
	for i := range 3 { // together they are too many before the first is due
		s.ill(s.nodeOf(&claims[i]), time.Hour)
	}
	s.event(s.nodeOf(&claims[2]), "NodeRepairBlocked")
	s.stays(3*time.Second, func() error {
		for i := range claims {
			if err := s.get(&claims[i]); err != nil || claims[i].DeletionTimestamp != nil {
				return fmt.Errorf("claim %s goes: %w", claims[i].Name, err)
			}
		}
		return nil
	})
	s.over(p)
}

// C23, where minValues may be given up: the claim says that they were.
func TestC23BestEffort(t *testing.T) {
	s := alone(t, "c23b")
	s.Inside(t, 0, kubetest.Config(t), func(o *app.Settings) { o.BestEffort = true })
	three := 3
	p := s.pool(ownClass, func(p *v1.NodePool) {
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, v1.Requirement{
			Key: "karpenter.k8s.aws/instance-family", Operator: corev1.NodeSelectorOpExists, MinValues: &three,
		})
	})
	s.runs(s.pod("web"))
	if c := s.ready(1)[0]; c.Annotations[v1.AnnotationMinValuesRelaxed] != "true" {
		s.Errorf("the claim's annotations are %v", c.Annotations)
	}
	s.over(p)
}

// What becomes of a claim's conditions, and that it has ended, is told by
// events, where there is no crowd of them.
func TestStepsAreTold(t *testing.T) {
	s := alone(t, "told")
	s.Inside(t, 0, kubetest.Config(t))
	p := s.pool(ownClass)
	s.runs(s.pod("web"))
	c := s.ready(1)[0]
	for _, kind := range []string{"Launched", "Registered", "Initialized", "Ready"} {
		s.event(&c, kind, "True")
	}
	s.event(p, "Ready", "True")
	n := s.nodeOf(&c)
	s.over(p)
	for _, o := range []client.Object{&c, n} {
		s.event(o, "Finalized", "karpenter.sh/termination")
	}
}
