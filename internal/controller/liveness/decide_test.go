package liveness_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/controller/liveness"
	"github.com/tenon-sh/tenon/internal/enact"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestNext(t *testing.T) {
	claim := func(conditions ...string) *v1.NodeClaim {
		c := &v1.NodeClaim{}
		for _, kind := range conditions {
			c.Conditions().True(kind, "", "", noon)
		}
		return c
	}
	leaving := claim()
	leaving.DeletionTimestamp = &metav1.Time{Time: noon}
	adopted := claim(v1.ConditionLaunched)
	adopted.Annotations = map[string]string{annotation.Adopts: "aws:///a/i-1"}
	adopting := claim()
	adopting.Annotations = adopted.Annotations
	adoptedHalf := claim(v1.ConditionLaunched, v1.ConditionRegistered)
	adoptedHalf.Annotations = adopted.Annotations
	tests := map[string]struct {
		why    string
		claim  *v1.NodeClaim
		waited time.Duration
		within time.Duration
		want   liveness.Step
	}{
		"Launching":   {"A launch has five minutes.", claim(), 4 * time.Minute, 0, liveness.Step{Again: time.Minute}},
		"Unlaunched":  {"Then its pods are planned again.", claim(), 5 * time.Minute, 0, liveness.Step{GiveUp: enact.LaunchTimeout}},
		"Joining":     {"To join takes up to fifteen.", claim(v1.ConditionLaunched), 14 * time.Minute, 0, liveness.Step{Again: time.Minute}},
		"NeverJoined": {"A machine that does not join is of no use.", claim(v1.ConditionLaunched), 15 * time.Minute, 0, liveness.Step{GiveUp: enact.RegistrationTimeout}},
		"Joined":      {"From then on others look after it.", claim(v1.ConditionLaunched, v1.ConditionRegistered), 24 * time.Hour, 0, liveness.Step{}},
		"Adopted":     {"Its machine is in use, even if two nodes say that they are it.", adopted, time.Hour, 0, liveness.Step{}},
		"Adopting":    {"What is not written to its end is written again, and not left for ever.", adopting, 4 * time.Minute, 0, liveness.Step{Again: time.Minute}},
		"Leaving":     {"It leaves already.", leaving, time.Hour, 0, liveness.Step{}},
		"Tomorrow":    {"Another's clock is ahead of ours.", claim(v1.ConditionLaunched), -time.Minute, 0, liveness.Step{Again: 16 * time.Minute}},
		"Complete":    {"It is complete.", claim(v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized), time.Hour, time.Minute, liveness.Step{}},
		"Completing":  {"Where that is bounded, it is waited for.", claim(v1.ConditionLaunched, v1.ConditionRegistered), 4 * time.Minute, 10 * time.Minute, liveness.Step{Again: 6 * time.Minute}},
		"Incomplete":  {"And not for longer (D-14).", claim(v1.ConditionLaunched, v1.ConditionRegistered), 10 * time.Minute, 10 * time.Minute, liveness.Step{GiveUp: enact.InitializationTimeout}},
		"AdoptedHalf": {"What was there before has pods.", adoptedHalf, time.Hour, time.Minute, liveness.Step{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := liveness.Next(tc.claim, tc.waited, tc.within); got != tc.want {
				t.Errorf("%+v, want %+v: %s", got, tc.want, tc.why)
			}
		})
	}
}

func TestBegan(t *testing.T) {
	made := func(change ...func(*v1.NodeClaim)) *v1.NodeClaim {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon)}}
		for _, f := range change {
			f(c)
		}
		return c
	}
	launched := func(at time.Time) func(*v1.NodeClaim) {
		return func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionLaunched, "", "", at) }
	}
	registered := func(at time.Time) func(*v1.NodeClaim) {
		return func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionRegistered, "", "", at) }
	}
	failed := func(at time.Time) func(*v1.NodeClaim) {
		return func(c *v1.NodeClaim) { c.Conditions().Unknown(v1.ConditionLaunched, v1.ReasonLaunchFailed, "", at) }
	}
	tests := map[string]struct {
		why   string
		claim *v1.NodeClaim
		want  time.Time
	}{
		"New":        {"The API server's clock may be behind: a claim that is new to us is young.", made(), time.Time{}},
		"Unjudged":   {"A condition as old as the claim was set by no controller.", made(failed(noon)), time.Time{}},
		"Failed":     {"It has been tried since.", made(failed(noon.Add(time.Minute))), noon.Add(time.Minute)},
		"Launched":   {"To join takes its own time.", made(launched(noon.Add(time.Minute))), noon.Add(time.Minute)},
		"Registered": {"To be initialized, too.", made(launched(noon.Add(time.Minute)), registered(noon.Add(2*time.Minute))), noon.Add(2 * time.Minute)},
		"OtherClock": {"A process whose clock was half an hour behind says when it was launched: it was not before it was made.", made(launched(noon.Add(-30 * time.Minute))), noon},
		"OtherNode":  {"So it is with its registration.", made(registered(noon.Add(-30 * time.Minute))), noon},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := liveness.Began(tc.claim); !got.Equal(tc.want) {
				t.Errorf("%s, want %s: %s", got, tc.want, tc.why)
			}
		})
	}
}
