package disrupt_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/disrupt"
	"github.com/tenon-sh/tenon/internal/enact"
)

// While many pods wait for the places that are planned for them no others are moved; where they never come there, they do not keep the others for ever.
func TestMovesWaitForABacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSimulation(t, "500m", "500m", "500m")
		fill := plan.Fill{Node: "n1"}
		for i := range 150 {
			k := world.Key{Namespace: "default", Name: fmt.Sprintf("batch-%d", i)}
			fill.Pods = append(fill.Pods, k)
			b.must(b.store.Create(t.Context(), &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name},
				Spec:       corev1.PodSpec{NodeSelector: map[string]string{"never": "seen"}, Containers: []corev1.Container{{Name: "a"}}},
				Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
					{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable},
				}},
			}))
		}
		before, began := b.state(), time.Now()
		var moved time.Duration
		b.plan = func(e *enact.Enactor, c *cluster.Cluster) {
			e.Publish(c.World(), plan.Plan{Filled: []plan.Fill{fill}}, nil)
			if moved == 0 && b.state() != before {
				moved = time.Since(began)
			}
		}
		b.live(b.store, 6*time.Minute, disrupt.Moving{})
		if moved < 4*time.Minute {
			t.Errorf("pods are moved after %s (0 is never), want it after the four minutes that they may wait without any of them being bound", moved)
		}
	})
}
