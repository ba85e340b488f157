package fleet_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/aws/fleet"
	"github.com/tenon-sh/tenon/internal/aws/soldout"
	"github.com/tenon-sh/tenon/internal/cloud"
)

func candidates(order ...int) []fleet.Candidate {
	all := []fleet.Candidate{
		{Shape: "g4dn.xlarge", Zone: "a", Subnet: "s-a", Template: "lt-1", Price: 526_000},
		{Shape: "g4dn.2xlarge", Zone: "a", Subnet: "s-a", Template: "lt-1", Price: 752_000},
		{Shape: "g4dn.xlarge", Zone: "b", Subnet: "s-b", Template: "lt-0", Price: 526_000},
	}
	out := make([]fleet.Candidate, len(order))
	for i, n := range order {
		out[i] = all[n]
	}
	return out
}

// The same request sent again must be the same to the letter, or EC2 refuses its token.
func TestInputDoesNotDependOnOrder(t *testing.T) {
	a := fleet.Request{Token: "t", Count: 5, CapacityType: "on-demand", Candidates: candidates(0, 1, 2), Tags: map[string]string{"b": "2", "a": "1"}}
	b := a
	b.Candidates = candidates(2, 1, 0)
	x, y := a.Input(), b.Input()
	if len(x.LaunchTemplateConfigs) != 2 || *x.TargetCapacitySpecification.TotalTargetCapacity != 5 ||
		x.OnDemandOptions.AllocationStrategy != ec2types.FleetOnDemandAllocationStrategyLowestPrice {
		t.Errorf("unexpected request: %+v", x)
	}
	for i := range x.LaunchTemplateConfigs {
		p, q := x.LaunchTemplateConfigs[i], y.LaunchTemplateConfigs[i]
		if *p.LaunchTemplateSpecification.LaunchTemplateName != *q.LaunchTemplateSpecification.LaunchTemplateName || len(p.Overrides) != len(q.Overrides) {
			t.Fatalf("config %d differs", i)
		}
		for j := range p.Overrides {
			if p.Overrides[j].InstanceType != q.Overrides[j].InstanceType || *p.Overrides[j].SubnetId != *q.Overrides[j].SubnetId {
				t.Errorf("override %d of config %d differs", j, i)
			}
		}
	}
}

func failure(code, text, shape, zone string) ec2types.CreateFleetError {
	return ec2types.CreateFleetError{
		ErrorCode: aws.String(code), ErrorMessage: aws.String(text),
		LaunchTemplateAndOverrides: &ec2types.LaunchTemplateAndOverridesResponse{
			Overrides: &ec2types.FleetLaunchTemplateOverrides{InstanceType: ec2types.InstanceType(shape), AvailabilityZone: aws.String(zone)},
		},
	}
}

func TestRead(t *testing.T) {
	tests := map[string]struct {
		why     string
		errors  []ec2types.CreateFleetError
		code    cloud.Code
		text    string
		soldOut []soldout.Offer
	}{
		"SoldOut": {
			why:     "EC2's words reach the reader unchanged, and the offers are remembered.",
			errors:  []ec2types.CreateFleetError{failure("InsufficientInstanceCapacity", "We currently do not have …", "p3.8xlarge", "a")},
			code:    cloud.Capacity,
			text:    "with fleet error(s), InsufficientInstanceCapacity: We currently do not have …",
			soldOut: []soldout.Offer{{Type: "p3.8xlarge", Zone: "a", CapacityType: "spot"}},
		},
		"Twice": {
			why: "The same words are said once.",
			errors: []ec2types.CreateFleetError{
				failure("UnfulfillableCapacity", "x", "m5.large", "b"), failure("UnfulfillableCapacity", "x", "m5.large", "a"),
			},
			code:    cloud.Capacity,
			text:    "with fleet error(s), UnfulfillableCapacity: x",
			soldOut: []soldout.Offer{{Type: "m5.large", Zone: "a", CapacityType: "spot"}, {Type: "m5.large", Zone: "b", CapacityType: "spot"}},
		},
		"FullSubnet": {
			why:     "A subnet without addresses closes its zone, not the type.",
			errors:  []ec2types.CreateFleetError{failure("InsufficientFreeAddressesInSubnet", "x", "m5.large", "a")},
			code:    cloud.Capacity,
			text:    "with fleet error(s), InsufficientFreeAddressesInSubnet: x",
			soldOut: []soldout.Offer{{Zone: "a"}},
		},
		"Mixed": {
			why: "One failure of another kind makes it no matter of capacity.",
			errors: []ec2types.CreateFleetError{
				failure("InsufficientInstanceCapacity", "x", "m5.large", "a"), failure("UnauthorizedOperation", "y", "m5.xlarge", "a"),
			},
			code:    cloud.Unauthorised,
			text:    "with fleet error(s), InsufficientInstanceCapacity: x; UnauthorizedOperation: y",
			soldOut: []soldout.Offer{{Type: "m5.large", Zone: "a", CapacityType: "spot"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := fleet.Read(&ec2.CreateFleetOutput{Errors: tc.errors}, "spot")
			err := a.Err()
			if cloud.CodeOf(err) != tc.code || err.Error() != tc.text {
				t.Errorf("%s\ngot %s: %v\nwant %s: %s", tc.why, cloud.CodeOf(err), err, tc.code, tc.text)
			}
			if diff := cmp.Diff(tc.soldOut, a.SoldOut("spot", "", func(string) bool { return false })); diff != "" {
				t.Errorf("%s\nsold out: -want +got\n%s", tc.why, diff)
			}
		})
	}
	if (fleet.Answer{}).Err() != nil {
		t.Error("no failure is no error")
	}
}
