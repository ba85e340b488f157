package launch

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/fleet"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/template"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// dryRuns is the pool and the order of a launch that no order asks for. What it is for
// must have a name: policies demand that what is made carries a pool's tag.
const dryRuns = "dry-run"

// Single is the launch of one machine of a class that no order asks for.
type Single struct {
	Types int  // that it may be of
	Found bool // something is on offer

	by    *Launcher
	want  demand
	offer offer // the cheapest
	kind  string
}

// Single returns the launch of one machine of a class, as it would be now.
func (b *Launcher) Single(ctx context.Context, c nodeclass.Class) (*Single, error) {
	sel, err := b.Selection.OfClass(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	order := cloud.Order{Count: 1, Token: dryRuns, Pool: world.PoolID{Name: dryRuns}, Template: cloud.Template{Class: c.Ref}}
	want, err := b.demand(ctx, order, sel)
	if err != nil {
		return nil, err
	}
	s := &Single{Types: len(want.shapes.Shapes), by: b, want: want}
	offers, kind := want.offers()
	offers = cheapest(slices.DeleteFunc(offers, func(o offer) bool { return o.CapacityType != label.OnDemand && kind == label.OnDemand }), 1)
	if s.kind, s.Found = kind, len(offers) > 0; s.Found {
		s.offer = offers[0]
	}
	return s, nil
}

// Requests are what starts one machine of a class: a launch template, and from it
// a fleet and a machine. Those of fleet and machine ask for a dry run.
type Requests struct {
	What     string
	Template *ec2.CreateLaunchTemplateInput
	Fleet    *ec2.CreateFleetInput
	Run      *ec2.RunInstancesInput
}

// Requests makes the requests for the cheapest offer.
func (s *Single) Requests(profile string) (Requests, error) {
	o := s.offer
	settings, err := s.by.settings(s.want, o, s.kind, profile)
	if err != nil {
		return Requests{}, err
	}
	subnets := s.want.sel.Subnets
	subnet := subnets[slices.IndexFunc(subnets, func(n network.Subnet) bool { return n.Zone == o.Zone })].ID
	out := Requests{What: fmt.Sprintf("%s in %s from %s", o.shape.Name, o.Zone, settings.Image), Template: settings.Input(s.want.cluster)}
	request := fleet.Request{
		Token: s.want.order.Token, CapacityType: s.kind, Count: 1, Tags: s.want.tags(), Context: s.want.sel.Class.Context,
		Candidates: []fleet.Candidate{{Shape: o.shape.Name, Zone: o.Zone, Subnet: subnet, Template: *out.Template.LaunchTemplateName, Block: block(o.Offer)}},
	}
	out.Fleet = request.Input()
	out.Fleet.ClientToken = nil // it is not to be remembered
	out.Run = run(*out.Template, o.shape.Name, subnet)
	tags := template.Tags(s.want.tags())
	out.Run.TagSpecifications = []ec2types.TagSpecification{
		{ResourceType: ec2types.ResourceTypeInstance, Tags: tags}, {ResourceType: ec2types.ResourceTypeVolume, Tags: tags},
	}
	out.Fleet.DryRun, out.Run.DryRun = aws.Bool(true), aws.Bool(true)
	return out, nil
}

// run starts one machine from a launch template, as a fleet would: with its
// disks, metadata options and whatever else rules of an account may look at.
func run(t ec2.CreateLaunchTemplateInput, shape, subnet string) *ec2.RunInstancesInput {
	in := &ec2.RunInstancesInput{
		MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: ec2types.InstanceType(shape),
		LaunchTemplate: &ec2types.LaunchTemplateSpecification{LaunchTemplateName: t.LaunchTemplateName, Version: aws.String("$Latest")},
	}
	if len(t.LaunchTemplateData.NetworkInterfaces) == 0 {
		in.SubnetId = aws.String(subnet)
	}
	for _, n := range t.LaunchTemplateData.NetworkInterfaces { // a subnet cannot be named beside interfaces, only in them
		in.NetworkInterfaces = append(in.NetworkInterfaces, ec2types.InstanceNetworkInterfaceSpecification{
			SubnetId: aws.String(subnet), DeviceIndex: n.DeviceIndex, NetworkCardIndex: n.NetworkCardIndex, InterfaceType: n.InterfaceType, Groups: n.Groups,
			AssociatePublicIpAddress: n.AssociatePublicIpAddress, Ipv4PrefixCount: n.Ipv4PrefixCount, PrimaryIpv6: n.PrimaryIpv6, Ipv6AddressCount: n.Ipv6AddressCount,
			ConnectionTrackingSpecification: n.ConnectionTrackingSpecification,
		})
	}
	return in
}
