package liveness_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/controller/liveness"
	"github.com/tenon-sh/tenon/internal/enact"
)

func TestNext(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	claim := func(age time.Duration, conditions ...string) *v1.NodeClaim {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon.Add(-age))}}
		for _, kind := range conditions {
			c.Conditions().True(kind, "", "", noon.Add(-age))
		}
		return c
	}
	tests := map[string]struct {
		why   string
		claim *v1.NodeClaim
		want  liveness.Step
	}{
		"Launching":   {"A launch has five minutes.", claim(4 * time.Minute), liveness.Step{Again: time.Minute}},
		"Unlaunched":  {"Then its pods are planned anew.", claim(5 * time.Minute), liveness.Step{GiveUp: enact.LaunchTimeout}},
		"Joining":     {"To join takes up to fifteen.", claim(14*time.Minute, v1.ConditionLaunched), liveness.Step{Again: time.Minute}},
		"NeverJoined": {"A machine that does not join is of no use.", claim(15*time.Minute, v1.ConditionLaunched), liveness.Step{GiveUp: enact.RegistrationTimeout}},
		"Joined":      {"From then on others look after it.", claim(24*time.Hour, v1.ConditionLaunched, v1.ConditionRegistered), liveness.Step{}},
		"Leaving":     {"It leaves already.", func() *v1.NodeClaim { c := claim(time.Hour); c.DeletionTimestamp = &metav1.Time{Time: noon}; return c }(), liveness.Step{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := liveness.Next(tc.claim, tc.claim.CreationTimestamp.Time, noon); got != tc.want {
				t.Errorf("%+v, want %+v: %s", got, tc.want, tc.why)
			}
		})
	}
}

// The API server's clock may be behind: a claim that is new to us is young.
func TestAnotherClock(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))}}
	if got, want := liveness.Next(c, noon, noon), (liveness.Step{Again: liveness.LaunchTimeout}); got != want {
		t.Errorf("new to us: %+v, want %+v", got, want)
	}
	c.Conditions().True(v1.ConditionLaunched, "", "", noon)
	if got, want := liveness.Next(c, noon, noon), (liveness.Step{Again: liveness.RegistrationTimeout}); got != want {
		t.Errorf("just launched: %+v, want %+v", got, want)
	}
}
