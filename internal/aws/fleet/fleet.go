// Package fleet writes fleet requests and reads what EC2 answers to them.
package fleet

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/soldout"
	"github.com/tenon-sh/tenon/internal/aws/template"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Candidate is one machine that would do: a type in a subnet, from a launch template.
type Candidate struct {
	Shape, Zone, Subnet, Template, Image string
	Price                                money.Micro
	Reservation                          string // the only one that its template may use
	Block                                bool   // it is a capacity block
	Interrupts                           bool   // it can be taken back
}

// Request asks for Count machines, each any of the candidates. All are of one capacity type.
type Request struct {
	Token        string // equal tokens, equal machines
	CapacityType string
	Count        int
	Candidates   []Candidate
	Tags         map[string]string
	Context      string
	Ranked       bool // the prices are the user's own: the request has EC2 follow them
}

// Input is the request as EC2 wants it. EC2 may pick any candidate: for spot it
// weighs price against how likely the machine is to be taken back, for
// on-demand it takes the cheapest.
func (r Request) Input() *ec2.CreateFleetInput {
	in := &ec2.CreateFleetInput{
		Type:        ec2types.FleetTypeInstant,
		ClientToken: aws.String(r.Token),
		TargetCapacitySpecification: &ec2types.TargetCapacitySpecificationRequest{
			TotalTargetCapacity: aws.Int32(int32(r.Count)), //nolint:gosec // an order is at most a few hundred machines
		},
		LaunchTemplateConfigs: r.configs(),
		TagSpecifications: []ec2types.TagSpecification{
			{ResourceType: ec2types.ResourceTypeInstance, Tags: template.Tags(r.Tags)},
			{ResourceType: ec2types.ResourceTypeVolume, Tags: template.Tags(r.Tags)},
			{ResourceType: ec2types.ResourceTypeFleet, Tags: template.Tags(r.Tags)},
		},
	}
	if r.Context != "" {
		in.Context = aws.String(r.Context)
	}
	if r.CapacityType == label.Spot {
		in.TargetCapacitySpecification.DefaultTargetCapacityType = ec2types.DefaultTargetCapacityTypeSpot
		in.SpotOptions = &ec2types.SpotOptionsRequest{AllocationStrategy: ec2types.SpotAllocationStrategyPriceCapacityOptimized}
		if r.Ranked {
			in.SpotOptions.AllocationStrategy = ec2types.SpotAllocationStrategyCapacityOptimizedPrioritized
		}
		return in
	}
	in.TargetCapacitySpecification.DefaultTargetCapacityType = ec2types.DefaultTargetCapacityTypeOnDemand
	if slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return c.Block }) {
		in.TargetCapacitySpecification.DefaultTargetCapacityType = ec2types.DefaultTargetCapacityTypeCapacityBlock
		return in // a block is bought as it is: there is nothing to choose
	}
	if slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return c.Interrupts }) {
		in.TargetCapacitySpecification.DefaultTargetCapacityType = ec2types.DefaultTargetCapacityTypeReservedCapacity
		in.ReservedCapacityOptions = &ec2types.ReservedCapacityOptionsRequest{
			ReservationTypes: []ec2types.FleetReservationType{ec2types.FleetReservationTypeInterruptibleCapacityReservation},
		}
		return in
	}
	in.OnDemandOptions = &ec2types.OnDemandOptionsRequest{AllocationStrategy: ec2types.FleetOnDemandAllocationStrategyLowestPrice}
	if r.Ranked {
		in.OnDemandOptions.AllocationStrategy = ec2types.FleetOnDemandAllocationStrategyPrioritized
	}
	return in
}

// configs groups the candidates by launch template, in a stable order, so that
// a request sent again under its token is the same to the letter.
func (r Request) configs() []ec2types.FleetLaunchTemplateConfigRequest {
	list := slices.Clone(r.Candidates)
	slices.SortStableFunc(list, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Template, b.Template), cmp.Compare(a.Price, b.Price), cmp.Compare(a.Shape, b.Shape), cmp.Compare(a.Zone, b.Zone))
	})
	var out []ec2types.FleetLaunchTemplateConfigRequest
	for i, c := range list {
		if i == 0 || list[i-1].Template != c.Template {
			out = append(out, ec2types.FleetLaunchTemplateConfigRequest{
				LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{
					LaunchTemplateName: aws.String(c.Template), Version: aws.String("$Latest"),
				},
			})
		}
		o := ec2types.FleetLaunchTemplateOverridesRequest{
			InstanceType: ec2types.InstanceType(c.Shape), SubnetId: aws.String(c.Subnet), AvailabilityZone: aws.String(c.Zone),
		}
		if c.Image != "" {
			o.ImageId = aws.String(c.Image)
		}
		if r.Ranked {
			o.Priority = aws.Float64(c.Price.Units())
		}
		last := &out[len(out)-1]
		last.Overrides = append(last.Overrides, o)
	}
	return out
}

// Machine is one machine that EC2 started.
type Machine struct{ ID, Shape, Subnet, Zone, CapacityType, Template string }

// Failure is why EC2 did not start a machine of some candidate.
type Failure struct{ Code, Message, Shape, Zone, Subnet, Template string }

// Answer is what EC2 did with a request.
type Answer struct {
	Machines []Machine // by id
	Failures []Failure
}

// Read turns EC2's answer into ours.
func Read(out *ec2.CreateFleetOutput, capacityType string) Answer {
	var a Answer
	for _, i := range out.Instances {
		m := Machine{Shape: string(i.InstanceType), CapacityType: capacityType}
		if o := i.LaunchTemplateAndOverrides; o != nil && o.Overrides != nil {
			m.Subnet, m.Zone = aws.ToString(o.Overrides.SubnetId), aws.ToString(o.Overrides.AvailabilityZone)
		}
		m.Template = templateOf(i.LaunchTemplateAndOverrides)
		for _, id := range i.InstanceIds {
			m.ID = id
			a.Machines = append(a.Machines, m)
		}
	}
	slices.SortFunc(a.Machines, func(x, y Machine) int { return cmp.Compare(x.ID, y.ID) })
	for _, e := range out.Errors {
		f := Failure{Code: aws.ToString(e.ErrorCode), Message: aws.ToString(e.ErrorMessage)}
		if o := e.LaunchTemplateAndOverrides; o != nil && o.Overrides != nil {
			f.Shape, f.Zone, f.Subnet = string(o.Overrides.InstanceType), aws.ToString(o.Overrides.AvailabilityZone), aws.ToString(o.Overrides.SubnetId)
		}
		f.Template = templateOf(e.LaunchTemplateAndOverrides)
		a.Failures = append(a.Failures, f)
	}
	return a
}

// templateOf is the name of the launch template that an answer is about.
func templateOf(o *ec2types.LaunchTemplateAndOverridesResponse) string {
	if o == nil || o.LaunchTemplateSpecification == nil {
		return ""
	}
	return aws.ToString(o.LaunchTemplateSpecification.LaunchTemplateName)
}

// Reservation is the reservation that machines of a template in a zone use; empty if none.
func (r Request) Reservation(template, shape, zone string) string {
	for _, c := range r.Candidates {
		if c.Reservation != "" && c.Shape == shape && c.Zone == zone && (template == "" || c.Template == template) {
			return c.Reservation
		}
	}
	return ""
}

// noAddress is the code by which EC2 says that a subnet is full.
const noAddress = "InsufficientFreeAddressesInSubnet"

// Full returns the subnets that the failures say have no address left.
func (a Answer) Full() []string {
	var out []string
	for _, f := range a.Failures {
		if f.Code == noAddress && f.Subnet != "" && !slices.Contains(out, f.Subnet) {
			out = append(out, f.Subnet)
		}
	}
	return out
}

// SoldOut returns what is sold out by the failures of a request in a placement group, or in
// none, for the memory. A zone is, where it has no subnet
// to spare for one that is full.
func (a Answer) SoldOut(capacityType, group string, spare func(zone string) bool) []soldout.Offer {
	var out []soldout.Offer
	for _, f := range a.Failures {
		switch {
		case f.Code == noAddress && spare(f.Zone):
		case f.Code == noAddress:
			out = append(out, soldout.Offer{Zone: f.Zone})
		case f.Code == "AuthFailure.ServiceLinkedRoleCreationNotPermitted":
			out = append(out, soldout.Offer{CapacityType: label.Spot})
		case capacityType == label.Reserved:
			// Reservations are counted one by one, not marked.
		case refusal.Kind(f.Code) == cloud.Capacity && f.Shape != "":
			out = append(out, soldout.Offer{Type: f.Shape, Zone: f.Zone, CapacityType: capacityType, Group: group})
		}
	}
	slices.SortFunc(out, compareOffer)
	return slices.Compact(out)
}

func compareOffer(a, b soldout.Offer) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.CapacityType, b.CapacityType), cmp.Compare(a.Group, b.Group))
}

// Err joins the failures, each once, in EC2's own words; nil if there are none.
// It means that there is no capacity only if every failure says so.
func (a Answer) Err() error {
	if len(a.Failures) == 0 {
		return nil
	}
	code := cloud.Capacity
	var texts []string
	for _, f := range a.Failures {
		if k := refusal.Kind(f.Code); k != cloud.Capacity && f.Code != "AuthFailure.ServiceLinkedRoleCreationNotPermitted" {
			code = k
		}
		if t := refusal.Steady(f.Code + ": " + f.Message); !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
	}
	text := strings.Join(texts, "; ")
	return &cloud.Error{Code: code, Reason: refusal.Reason(text), Err: errors.New("with fleet error(s), " + text)}
}
