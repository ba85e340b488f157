package aws

import (
	"context"
	"fmt"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/fleet"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/template"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// rehearsed are the requests that start a machine of a class: a launch template,
// made in earnest once a dry run of it was honoured, and from it a fleet and a
// machine as dry runs. EC2 answers a dry run with a refusal that says whether it
// would have done it.
type rehearsed struct {
	what     string
	template *ec2.CreateLaunchTemplateInput
	fleet    *ec2.CreateFleetInput
	run      *ec2.RunInstancesInput
}

// dryRuns is the pool and the order that rehearsals are for. What they are for
// must have a name: policies demand that what is made carries a pool's tag.
const dryRuns = "dry-run"

// scene is a launch of one machine of a class that nobody ordered, and the offer
// it would become: the cheapest. It is nil if there is none.
func (d *Driver) scene(ctx context.Context, c nodeclass.Class) (*launching, *offer, string, error) {
	r, err := d.resolveClass(ctx, c, nil)
	if err != nil {
		return nil, nil, "", err
	}
	shapes, err := d.catalog(ctx, cloud.Template{Class: c.Ref}, r)
	if err != nil {
		return nil, nil, "", err
	}
	l := &launching{Driver: d, resolved: r, shapes: shapes, past: &past{}, order: cloud.Order{Count: 1, Token: dryRuns, Pool: world.PoolID{Name: dryRuns}}}
	offers, kind := l.offers()
	offers = cheapest(slices.DeleteFunc(offers, func(o offer) bool { return o.CapacityType != label.OnDemand && kind == label.OnDemand }), 1)
	if len(offers) == 0 {
		return l, nil, kind, nil
	}
	return l, &offers[0], kind, nil
}

// rehearsal makes the requests for one offer.
func (l *launching) rehearsal(o offer, kind, profile string) (rehearsed, error) {
	settings, err := l.settings(o, kind, profile)
	if err != nil {
		return rehearsed{}, err
	}
	subnet := l.subnets[slices.IndexFunc(l.subnets, func(s network.Subnet) bool { return s.Zone == o.Zone })].ID
	out := rehearsed{what: fmt.Sprintf("%s in %s from %s", o.shape.Name, o.Zone, settings.Image), template: settings.Input(l.cfg.Settings.Cluster)}
	request := fleet.Request{
		Token: l.order.Token, CapacityType: kind, Count: 1, Tags: l.tags(), Context: l.class.Context,
		Candidates: []fleet.Candidate{{Shape: o.shape.Name, Zone: o.Zone, Subnet: subnet, Template: *out.template.LaunchTemplateName, Block: block(o.Offer)}},
	}
	out.fleet = request.Input()
	out.fleet.ClientToken = nil // it is not to be remembered
	out.run = run(*out.template, o.shape.Name, subnet)
	tags := template.Tags(l.tags())
	out.run.TagSpecifications = []ec2types.TagSpecification{
		{ResourceType: ec2types.ResourceTypeInstance, Tags: tags}, {ResourceType: ec2types.ResourceTypeVolume, Tags: tags},
	}
	out.fleet.DryRun, out.run.DryRun = awssdk.Bool(true), awssdk.Bool(true)
	return out, nil
}

// run starts one machine from a launch template, as a fleet would: with its
// disks, metadata options and whatever else rules of an account may look at.
func run(t ec2.CreateLaunchTemplateInput, shape, subnet string) *ec2.RunInstancesInput {
	in := &ec2.RunInstancesInput{
		MinCount: awssdk.Int32(1), MaxCount: awssdk.Int32(1), InstanceType: ec2types.InstanceType(shape),
		LaunchTemplate: &ec2types.LaunchTemplateSpecification{LaunchTemplateName: t.LaunchTemplateName, Version: awssdk.String("$Latest")},
	}
	if len(t.LaunchTemplateData.NetworkInterfaces) == 0 {
		in.SubnetId = awssdk.String(subnet)
	}
	for _, n := range t.LaunchTemplateData.NetworkInterfaces { // a subnet cannot be named beside interfaces, only in them
		in.NetworkInterfaces = append(in.NetworkInterfaces, ec2types.InstanceNetworkInterfaceSpecification{
			SubnetId: awssdk.String(subnet), DeviceIndex: n.DeviceIndex, NetworkCardIndex: n.NetworkCardIndex, InterfaceType: n.InterfaceType, Groups: n.Groups,
			AssociatePublicIpAddress: n.AssociatePublicIpAddress, Ipv4PrefixCount: n.Ipv4PrefixCount, PrimaryIpv6: n.PrimaryIpv6, Ipv6AddressCount: n.Ipv6AddressCount,
			ConnectionTrackingSpecification: n.ConnectionTrackingSpecification,
		})
	}
	return in
}

// answered is what EC2 said to one dry run.
type answered struct {
	check  string // what was tried
	reason string // of the condition, if it is not allowed
	err    error  // nil: EC2 would do it
}

// rehearse asks EC2 what would come of the requests. A server that carries a dry
// run out gets what it made taken back, and is asked no more: the least that can
// come of the first is a launch template, which is why it is first.
//
// Only if that one is honoured the template is made in earnest, for the time of
// the trial: what rules of an account demand of a launch, such as metadata
// options or encrypted disks, stands there, and policies look at its tags.
func (d *Driver) rehearse(ctx context.Context, r rehearsed) []answered {
	const check = "make a launch template"
	dry := *r.template
	dry.DryRun = awssdk.Bool(true)
	_, err := d.clients.EC2.CreateLaunchTemplate(ctx, &dry)
	if err == nil {
		d.dropTemplate(ctx, *r.template.LaunchTemplateName)
		d.earnest()
		return nil
	}
	if !refusal.Is(err, "DryRunOperation") {
		return []answered{{check, awsv1.ReasonCreateLaunchTemplateAuthFailed, err}}
	}
	_, err = d.clients.EC2.CreateLaunchTemplate(ctx, r.template)
	if err != nil && !refusal.Is(err, "InvalidLaunchTemplateName.AlreadyExistsException") {
		return []answered{{check, awsv1.ReasonCreateLaunchTemplateAuthFailed, err}}
	}
	defer d.dropTemplate(ctx, *r.template.LaunchTemplateName)
	out := []answered{{check, awsv1.ReasonCreateLaunchTemplateAuthFailed, nil}}

	said, ok := d.rehearseFleet(ctx, r.fleet)
	if !ok {
		return out
	}
	out = append(out, said)
	ran, err := d.clients.EC2.RunInstances(ctx, r.run)
	if err == nil {
		for _, i := range ran.Instances {
			d.takeBack(ctx, awssdk.ToString(i.InstanceId))
		}
		d.earnest()
		return out
	}
	return append(out, answered{"start a machine", awsv1.ReasonRunInstancesAuthFailed, unlessDry(err)})
}

// rehearseFleet asks for a fleet; false if the server carried it out. The first
// time it is from a template that is not there, so that one that does so has
// nothing to make it from. Where policies look at the template's tags that is
// not allowed, whatever they say of ours: then it is asked for as it would be.
func (d *Driver) rehearseFleet(ctx context.Context, in *ec2.CreateFleetInput) (answered, bool) {
	nowhere := *in
	nowhere.LaunchTemplateConfigs = slices.Clone(in.LaunchTemplateConfigs)
	for i, c := range nowhere.LaunchTemplateConfigs {
		s := *c.LaunchTemplateSpecification
		s.LaunchTemplateName = awssdk.String(*s.LaunchTemplateName + "-none")
		nowhere.LaunchTemplateConfigs[i].LaunchTemplateSpecification = &s
	}
	made, err := d.clients.EC2.CreateFleet(ctx, &nowhere)
	if refusal.Is(err, "InvalidLaunchTemplateName.NotFoundException") {
		err = nil
	} else if refusal.KindOf(err) == cloud.Unauthorised && err != nil {
		made, err = d.clients.EC2.CreateFleet(ctx, in)
	}
	if made != nil {
		for _, m := range fleet.Read(made, "").Machines {
			d.takeBack(ctx, m.ID)
		}
		d.earnest()
		return answered{}, false
	}
	return answered{"start a fleet", awsv1.ReasonCreateFleetAuthFailed, unlessDry(err)}, true
}

// unlessDry is nil for the refusal by which EC2 says that it would do it.
func unlessDry(err error) error {
	if refusal.Is(err, "DryRunOperation") {
		return nil
	}
	return err
}

// dropTemplate deletes the launch template of a trial; the next sweep does if that fails.
func (d *Driver) dropTemplate(ctx context.Context, name string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), dropWithin)
	defer stop()
	if err := d.stores.Drop(ctx, name); err != nil {
		d.cfg.Said(Saying{Failed: true, Message: "A launch template that was made to try a class out cannot be deleted; that is tried again", Fields: map[string]string{"launch-template": name, "error": err.Error()}})
	}
}

// dropWithin is how long the end of a trial's template may take although what
// asked for the trial has ended.
const dropWithin = 10 * time.Second

// earnest notes that dry runs are carried out here, so that none is sent again.
func (d *Driver) earnest() {
	d.trials.stop()
	d.cfg.Said(Saying{Failed: true, Message: "What answers for EC2 carries dry runs out: what came of them is given back, and no class is tried any more"})
}

func (d *Driver) takeBack(ctx context.Context, id string) {
	if err := d.machines.Terminate(ctx, []cloud.MachineID{cloud.MachineID(id)})[0]; err != nil {
		d.cfg.Said(Saying{Failed: true, Message: fmt.Sprintf("Machine %s came of a dry run and cannot be ended: %v", id, err)})
	}
}
