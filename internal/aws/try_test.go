package aws_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Whether a class could be launched is asked of EC2, by requests that launch nothing.
func TestDryRuns(t *testing.T) {
	credentials(t)
	deny := func(action string) func(*virtual) {
		return func(w *virtual) { w.account().Rules.Add(fault.Rule{Action: action, Kind: fault.Deny}) }
	}
	tests := map[string]struct {
		why     string
		server  *strange
		setup   func(*virtual)
		class   func(*nodeclass.Class)
		reason  string // of the condition; empty: it holds
		tried   bool
		without string // what it says besides
	}{
		"Fine":        {why: "EC2 would launch.", tried: true},
		"NoTemplates": {why: "Making launch templates is not allowed.", setup: deny("CreateLaunchTemplate"), reason: "CreateLaunchTemplateAuthCheckFailed", tried: true},
		"NoFleets":    {why: "Nor are fleets.", setup: deny("CreateFleet"), reason: "CreateFleetAuthCheckFailed", tried: true},
		"NoRuns":      {why: "Nor machines.", setup: deny("RunInstances"), reason: "RunInstancesAuthCheckFailed", tried: true},
		"Off":         {why: "It is switched off.", setup: func(w *virtual) { w.settings = func(s *aws.Settings) { s.NoDryRun = true } }},
		"Away":        {why: "EC2 that is in trouble says nothing about the class.", setup: func(w *virtual) { w.account().Rules.Add(fault.Rule{Action: "CreateLaunchTemplate", Kind: fault.Fail}) }, tried: true, without: "not tried"},
		"Full":        {why: "Nor does a quota.", setup: func(w *virtual) { w.account().Market.SetCapacity(market.Capacity{Left: 0, Code: "VcpuLimitExceeded"}) }, tried: true},
		"UserData": {why: "What cannot be merged is said before anyone waits for a node.", class: func(c *nodeclass.Class) {
			c.Family, c.UserData = "Bottlerocket", "[[["
			c.Images = []nodeclass.ImageSelector{{Alias: "bottlerocket@latest"}}
		}, reason: "InvalidUserData", tried: true},
		"Large":          {why: "So is what is too long with what the node needs.", class: func(c *nodeclass.Class) { c.UserData = "#!/bin/sh\n" + strings.Repeat("echo hello\n", 1480) }, reason: "UserDataSizeLimitExceeded", tried: true},
		"EarnestOfAll":   {why: "A server that carries dry runs out is asked once, and what came of it is given back.", server: &strange{earnest: []string{"CreateLaunchTemplate", "CreateFleet", "RunInstances"}}},
		"EarnestOfFleet": {why: "So is one that does so with fleets alone: it has no template to make it from.", server: &strange{earnest: []string{"CreateFleet"}}, tried: true},
		"EarnestOfRuns":  {why: "And one that starts machines ends them.", server: &strange{earnest: []string{"RunInstances"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{t: t, strange: tc.server, change: tc.class}
				w.account()
				if tc.setup != nil {
					tc.setup(w)
				}
				d := w.start()
				got, err := d.Inspect(t.Context(), templateOf().Class)
				if err != nil {
					t.Fatal(tc.why, err)
				}
				reason := ""
				if e := got.Broken[awsv1.ConditionValidationSucceeded]; e != nil {
					reason = e.Reason
					if !strings.Contains(e.Error(), "default") && !strings.Contains(e.Error(), "role") {
						t.Errorf("%s It is not told what to do: %v", tc.why, e)
					}
				}
				if reason != tc.reason || got.Tried != tc.tried || !strings.Contains(got.Without[awsv1.ConditionValidationSucceeded], tc.without) {
					t.Errorf("%s Got %q, tried %t, without %v", tc.why, reason, got.Tried, got.Without)
				}
				time.Sleep(2 * time.Minute)
				if alive := slices.DeleteFunc(w.account().Market.Everything(), func(i market.Instance) bool { return i.State.Gone() }); len(alive) > 0 {
					t.Errorf("%s %d machines run", tc.why, len(alive))
				}
				if err := d.Sweep(t.Context()); err != nil || len(w.account().Market.Templates()) > 0 {
					t.Errorf("%s %d launch templates are left, %v", tc.why, len(w.account().Market.Templates()), err)
				}
				before := w.calls("RunInstances")
				if _, err := d.Inspect(t.Context(), templateOf().Class); err != nil {
					t.Fatal(err)
				}
				if reason == "" && tc.without == "" && w.calls("RunInstances") != before {
					t.Errorf("%s It is asked again and again", tc.why)
				}
			})
		})
	}
}
