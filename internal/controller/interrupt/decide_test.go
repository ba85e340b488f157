package interrupt_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/interrupt"
)

func idOf(providerID string) (cloud.MachineID, bool) {
	id, ok := strings.CutPrefix(providerID, "aws:///a/")
	return cloud.MachineID(id), ok
}

func TestNext(t *testing.T) {
	spot := map[string]string{label.CapacityType: label.Spot, label.InstanceType: "m5.large", label.Zone: "a"}
	places := []*world.Place{
		{Node: &world.Node{Name: "n1", Labels: spot}, Claim: &world.Claim{Name: "c1", ProviderID: "aws:///a/i-1"}},
		{Node: &world.Node{Name: "n2"}, Claim: &world.Claim{Name: "c2", ProviderID: "aws:///a/i-2", Deleting: true}},
		{Claim: &world.Claim{Name: "c3", ProviderID: "aws:///a/i-3", Labels: map[string]string{label.CapacityType: label.OnDemand}}},
		{Claim: &world.Claim{Name: "unlaunched"}},
		{Node: &world.Node{Name: "foreign", ProviderID: "aws:///a/i-4"}},
	}
	tests := map[string]struct {
		why    string
		notice interrupt.Notice
		want   []interrupt.Step
	}{
		"Spot": {
			"There are two minutes to drain, and the next machine is another.",
			interrupt.Notice{Event: "SpotInterrupted", Going: true, Reclaims: true, Machines: []cloud.MachineID{"i-1"}},
			[]interrupt.Step{{Claim: "c1", Node: "n1", Tell: "SpotInterrupted", End: true, Shape: "m5.large", Zone: "a"}},
		},
		"Advice": {
			"It may be taken some time: people are told and nothing is done.",
			interrupt.Notice{Event: "SpotRebalanceRecommendation", Machines: []cloud.MachineID{"i-1"}},
			[]interrupt.Step{{Claim: "c1", Node: "n1", Tell: "SpotRebalanceRecommendation"}},
		},
		"Twice": {
			"A notice may come again while the machine is going, and what we end ourselves is announced, too.",
			interrupt.Notice{Event: "InstanceStopping", Going: true, Machines: []cloud.MachineID{"i-2"}},
			nil,
		},
		"NoNode": {
			"A machine that has not joined goes as well; on demand nothing is sold out by it.",
			interrupt.Notice{Event: "InstanceTerminating", Going: true, Reclaims: true, Machines: []cloud.MachineID{"i-3"}},
			[]interrupt.Step{{Claim: "c3", Tell: "InstanceTerminating", End: true}},
		},
		"Foreign": {
			"A machine without a claim is somebody else's.",
			interrupt.Notice{Event: "InstanceTerminating", Going: true, Machines: []cloud.MachineID{"i-4", "i-9"}},
			nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, interrupt.Next(tc.notice, places, idOf)); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
		})
	}
}
