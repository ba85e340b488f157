package aws

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"

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

// worldID is a name for a class' catalogue that no pool's has.
func worldID(c nodeclass.Class) world.TemplateID {
	return world.TemplateID(fmt.Sprintf("%s/%s", c.Ref.Kind, c.Ref.Name))
}

// rehearsed are the requests that start a machine of a class, as dry runs, in the
// order in which they are to be sent. EC2 answers a dry run with a refusal that
// says whether it would have done it.
type rehearsed struct {
	what     string
	template *ec2.CreateLaunchTemplateInput
	fleet    *ec2.CreateFleetInput
	run      *ec2.RunInstancesInput
}

// scene is a launch of one machine of a class that nobody ordered, and the offer
// it would become: the cheapest. It is nil if there is none.
func (d *Driver) scene(ctx context.Context, c nodeclass.Class) (*launching, *offer, string, error) {
	r, err := d.resolveClass(ctx, c, nil)
	if err != nil {
		return nil, nil, "", err
	}
	shapes, err := d.catalog(ctx, cloud.Template{ID: "examined/" + worldID(c), Class: c.Ref}, r)
	if err != nil {
		return nil, nil, "", err
	}
	l := &launching{Driver: d, resolved: r, shapes: shapes, past: &past{}, order: cloud.Order{Count: 1, Token: "dry-run"}}
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
	tags := template.Tags(l.tags())
	out.run = &ec2.RunInstancesInput{
		MinCount: awssdk.Int32(1), MaxCount: awssdk.Int32(1),
		ImageId: awssdk.String(settings.Image), InstanceType: ec2types.InstanceType(o.shape.Name), SubnetId: awssdk.String(subnet),
		SecurityGroupIds: l.groupIDs(), UserData: awssdk.String(base64.StdEncoding.EncodeToString([]byte(settings.UserData))),
		IamInstanceProfile: &ec2types.IamInstanceProfileSpecification{Name: awssdk.String(profile)},
		TagSpecifications: []ec2types.TagSpecification{
			{ResourceType: ec2types.ResourceTypeInstance, Tags: tags}, {ResourceType: ec2types.ResourceTypeVolume, Tags: tags},
		},
	}
	out.template.DryRun, out.fleet.DryRun, out.run.DryRun = awssdk.Bool(true), awssdk.Bool(true), awssdk.Bool(true)
	return out, nil
}

// answered is what EC2 said to one dry run.
type answered struct {
	check  string // what was tried
	reason string // of the condition, if it is not allowed
	err    error  // nil: EC2 would do it
}

// rehearse asks EC2 what would come of the requests. A server that carries a dry
// run out gets what it made taken back, and is asked no more: the least that can
// come of the first is a launch template, which is why it is first. The fleet is
// asked for from that template, which is not there: a server that would carry
// out a fleet has nothing to make it from.
func (d *Driver) rehearse(ctx context.Context, r rehearsed) []answered {
	var out []answered
	say := func(check, reason string, err error) {
		switch {
		case refusal.Is(err, "DryRunOperation"), reason == awsv1.ReasonCreateFleetAuthFailed && refusal.Is(err, "InvalidLaunchTemplateName.NotFoundException"):
			err = nil
		}
		out = append(out, answered{check, reason, err})
	}
	_, err := d.clients.EC2.CreateLaunchTemplate(ctx, r.template)
	if err == nil {
		d.stores.Found(*r.template.LaunchTemplateName)
		d.earnest()
		return nil
	}
	say("make a launch template", awsv1.ReasonCreateLaunchTemplateAuthFailed, err)
	made, err := d.clients.EC2.CreateFleet(ctx, r.fleet)
	if err == nil {
		for _, m := range fleet.Read(made, "").Machines {
			d.takeBack(ctx, m.ID)
		}
		d.earnest()
		return out
	}
	say("start a fleet", awsv1.ReasonCreateFleetAuthFailed, err)
	ran, err := d.clients.EC2.RunInstances(ctx, r.run)
	if err == nil {
		for _, i := range ran.Instances {
			d.takeBack(ctx, awssdk.ToString(i.InstanceId))
		}
		d.earnest()
		return out
	}
	say("start a machine", awsv1.ReasonRunInstancesAuthFailed, err)
	return out
}

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
