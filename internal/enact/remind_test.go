package enact_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

// Room is kept for a pod that is then bound elsewhere. kube-scheduler takes the
// pod that waits for the room up again only if it is reminded.
func TestForgottenPodsAreTakenUpAgain(t *testing.T) {
	s := newStage(t)
	for name, cpu := range map[string]string{"room": "1", "elsewhere": "500m"} {
		s.node(name, cpu)
		s.open(name)
	}
	s.pod("other", "1", func(p *corev1.PodSpec) { p.NodeSelector = map[string]string{"for": "none"} })
	s.refused("other", func(why string) bool { return !strings.Contains(why, "taint") }) // it knows that the nodes are open
	nominate := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"nominatedNodeName":"room"}}`))
	if err := s.client.Status().Patch(t.Context(), s.get("other"), nominate, client.FieldOwner("kube-scheduler")); err != nil {
		t.Fatal(err)
	}
	s.pod("forgotten", "1") // kube-scheduler hears of it after it has heard of the nomination
	s.refused("forgotten", func(why string) bool { return strings.Contains(why, "Insufficient cpu") })
	bind := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "elsewhere"}}
	if err := s.client.SubResource("binding").Create(t.Context(), s.get("other"), bind); err != nil {
		t.Fatal(err)
	}

	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s.enact.Now = func() time.Time { return now }
	look := func(why string) {
		t.Helper()
		w := s.world("room", "elsewhere")
		if w.Pod(world.Key{Namespace: s.namespace, Name: "forgotten"}).Node != "" {
			return // on a busy computer kube-scheduler may come by once more
		}
		wait := s.enact.Promise(t.Context(), w, s.plan("forgotten", "room"), 0)
		if wait <= 0 || wait > time.Minute {
			t.Errorf("the next look is after %s: %s", wait, why)
		}
		now = now.Add(wait)
	}
	look("the pod is nominated, and may stay")
	look("the pod was not taken up")
	kubetest.Within(t, limit, func() error {
		if got := s.get("forgotten").Spec.NodeName; got != "room" {
			return fmt.Errorf("the pod runs on %q", got)
		}
		return nil
	})
	if wait := s.enact.Promise(t.Context(), s.world("room", "elsewhere"), s.plan(), 0); wait != 0 {
		t.Errorf("no pod waits, and yet the next look is after %s", wait)
	}
}

// refused waits until kube-scheduler has found no place for a pod, for such a reason.
func (s *stage) refused(pod string, is func(why string) bool) {
	s.Helper()
	kubetest.Within(s, limit, func() error {
		status := s.get(pod).Status
		if slices.ContainsFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled && is(c.Message) }) {
			return nil
		}
		return fmt.Errorf("kube-scheduler says of %s: %v", pod, status.Conditions)
	})
}
