package aws_test

import (
	"context"
	"slices"
	"testing"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

func TestInspect(t *testing.T) {
	nothing := []nodeclass.Selector{{Tags: []nodeclass.Tag{{Key: "no", Values: []string{"such"}}}}}
	tests := map[string]struct {
		why    string
		change func(*nodeclass.Class)
		denied string
		broken map[string]string
	}{
		"Fine": {why: "Every part is found.", change: func(*nodeclass.Class) {}},
		"Broken": {
			why:    "Each part is said for itself.",
			change: func(c *nodeclass.Class) { c.Subnets, c.Groups = nothing, nothing },
			broken: map[string]string{awsv1.ConditionSubnetsReady: "SubnetsNotFound", awsv1.ConditionSecurityGroupsReady: "SecurityGroupsNotFound"},
		},
		"NoProfile": {
			why:    "Nothing says which profile machines get.",
			change: func(c *nodeclass.Class) { c.Role, c.Profile = "", "" },
			broken: map[string]string{awsv1.ConditionInstanceProfileReady: "InstanceProfileNotFound"},
		},
		"UnknownProfile": {
			why:    "The profile that is named does not exist: every launch would be refused.",
			change: func(c *nodeclass.Class) { c.Role, c.Profile = "", "none" },
			broken: map[string]string{awsv1.ConditionInstanceProfileReady: "InstanceProfileNotFound"},
		},
		"SilentIAM": {
			why:    "Whether it exists cannot be asked, as in a cluster without a way to IAM: EC2 has the last word.",
			change: func(c *nodeclass.Class) { c.Role, c.Profile = "", "none" }, denied: "GetInstanceProfile",
		},
		"Placement": {
			why:    "Without the group that its machines belong to, a class makes none.",
			change: func(c *nodeclass.Class) { c.PlacementGroup = &nodeclass.Selector{Name: "close"} },
			broken: map[string]string{awsv1.ConditionPlacementGroupReady: "PlacementGroupNotFound"},
		},
		"NoTemplate": {
			why: "A launch template of the user's own that is not there would have every launch refused.",
			change: func(c *nodeclass.Class) {
				c.LaunchTemplate, c.Groups, c.Images, c.Role, c.Profile = "none", nothing, nil, "", ""
			},
			broken: map[string]string{awsv1.ConditionAMIsReady: "LaunchTemplateNotFound"},
		},
		"OwnTemplate": {
			why: "A launch template of the user's own says all but where.",
			change: func(c *nodeclass.Class) {
				c.LaunchTemplate, c.Groups, c.Images, c.Role, c.Profile = "mine", nothing, nil, "", ""
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := open(t, nil, tc.change)
			if _, err := a.Market.CreateTemplate(market.NewTemplate{Name: "mine"}); err != nil {
				t.Fatal(err)
			}
			if tc.denied != "" {
				a.Rules.Add(fault.Rule{Action: tc.denied, Kind: fault.Deny})
			}
			got, err := a.Inspect(context.Background(), templateOf().Class)
			if err != nil {
				t.Fatal(tc.why, err)
			}
			for part, e := range got.Broken {
				if tc.broken[part] != e.Reason {
					t.Errorf("%s %s: %s: %v", tc.why, part, e.Reason, e)
				}
			}
			if len(got.Broken) != len(tc.broken) {
				t.Errorf("%s Broken: %v, want %v", tc.why, got.Broken, tc.broken)
			}
			if name != "Fine" {
				return
			}
			if len(got.Subnets) == 0 || len(got.Groups) == 0 || len(got.Images) == 0 || got.Profile == "" {
				t.Errorf("%s %+v", tc.why, got)
			}
			if !slices.ContainsFunc(got.Images, func(i awsv1.AMI) bool { return len(i.Requirements) > 0 }) {
				t.Errorf("no image says which machines it is for: %+v", got.Images)
			}
		})
	}
}
