package repair_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/internal/controller/repair"
)

func TestIllness(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	is := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, since time.Duration) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(noon.Add(-since))}
	}
	tests := map[string]struct {
		why  string
		node []corev1.NodeCondition
		want repair.Unhealthy
	}{
		"Healthy": {"Ready is as it should be.", []corev1.NodeCondition{is("Ready", "True", time.Hour)}, repair.Unhealthy{}},
		"Silent":  {"Its kubelet says nothing.", []corev1.NodeCondition{is("Ready", "Unknown", time.Minute)}, repair.Unhealthy{Condition: "Ready", Left: 29 * time.Minute}},
		"Several": {"What is due first counts.", []corev1.NodeCondition{is("Ready", "False", time.Minute), is("AcceleratedHardwareReady", "False", 0)}, repair.Unhealthy{Condition: "AcceleratedHardwareReady", Left: 10 * time.Minute}},
		"Foreign": {"A condition that no policy knows is its owner's.", []corev1.NodeCondition{is("Mood", "False", time.Hour)}, repair.Unhealthy{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			since := func(c corev1.NodeCondition) time.Duration { return noon.Sub(c.LastTransitionTime.Time) }
			got, ill := repair.Illness(&corev1.Node{Status: corev1.NodeStatus{Conditions: tc.node}}, repair.Policies(), since)
			if got != tc.want || ill != (tc.want.Condition != "") {
				t.Errorf("%+v, want %+v: %s", got, tc.want, tc.why)
			}
		})
	}
}
