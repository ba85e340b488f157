package dryrun

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/internal/aws/fleet"
	"github.com/tenon-sh/tenon/internal/aws/launch"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Answer is what EC2 said to one dry run.
type Answer struct {
	Check  string // what was tried
	Reason string // of the condition, if it is not allowed
	Err    error  // nil: EC2 would do it
}

// Rehearse asks EC2 what would come of the requests. A server that carries a dry
// run out gets what it made taken back, and is asked no more: the least that can
// come of the first is a launch template, which is why it is first.
//
// Only if the server kept the first one dry is the template made, for the time of
// the trial: what rules of an account demand of a launch, such as metadata
// options or encrypted disks, stands there, and policies look at its tags.
func (t *Trials) Rehearse(ctx context.Context, r launch.Requests) []Answer {
	const check = "make a launch template"
	dry := *r.Template
	dry.DryRun = aws.Bool(true)
	_, err := t.cfg.EC2.CreateLaunchTemplate(ctx, &dry)
	if err == nil {
		t.dropTemplate(ctx, *r.Template.LaunchTemplateName)
		t.carriedOut()
		return nil
	}
	if !refusal.Is(err, "DryRunOperation") {
		return []Answer{{check, awsv1.ReasonCreateLaunchTemplateAuthFailed, err}}
	}
	_, err = t.cfg.EC2.CreateLaunchTemplate(ctx, r.Template)
	if err != nil && !refusal.Is(err, "InvalidLaunchTemplateName.AlreadyExistsException") {
		return []Answer{{check, awsv1.ReasonCreateLaunchTemplateAuthFailed, err}}
	}
	defer t.dropTemplate(ctx, *r.Template.LaunchTemplateName)
	out := []Answer{{check, awsv1.ReasonCreateLaunchTemplateAuthFailed, nil}}

	said, ok := t.rehearseFleet(ctx, r.Fleet)
	if !ok {
		return out
	}
	out = append(out, said)
	ran, err := t.cfg.EC2.RunInstances(ctx, r.Run)
	if err == nil {
		for _, i := range ran.Instances {
			t.takeBack(ctx, aws.ToString(i.InstanceId))
		}
		t.carriedOut()
		return out
	}
	return append(out, Answer{"start a machine", awsv1.ReasonRunInstancesAuthFailed, unlessDry(err)})
}

// rehearseFleet asks for a fleet; false if the server carried it out. The first
// time it is from a template that is not there, so that one that does so has
// nothing to make it from. Where policies look at the template's tags that is
// not allowed, whatever they say of ours: then it is asked for as it would be.
func (t *Trials) rehearseFleet(ctx context.Context, in *ec2.CreateFleetInput) (Answer, bool) {
	nowhere := *in
	nowhere.LaunchTemplateConfigs = slices.Clone(in.LaunchTemplateConfigs)
	for i, c := range nowhere.LaunchTemplateConfigs {
		s := *c.LaunchTemplateSpecification
		s.LaunchTemplateName = aws.String(*s.LaunchTemplateName + "-none")
		nowhere.LaunchTemplateConfigs[i].LaunchTemplateSpecification = &s
	}
	made, err := t.cfg.EC2.CreateFleet(ctx, &nowhere)
	if refusal.Is(err, "InvalidLaunchTemplateName.NotFoundException") {
		err = nil
	} else if refusal.KindOf(err) == cloud.Unauthorised && err != nil {
		made, err = t.cfg.EC2.CreateFleet(ctx, in)
	}
	if made != nil {
		for _, m := range fleet.Read(made, "").Machines {
			t.takeBack(ctx, m.ID)
		}
		t.carriedOut()
		return Answer{}, false
	}
	return Answer{"start a fleet", awsv1.ReasonCreateFleetAuthFailed, unlessDry(err)}, true
}

// unlessDry is nil for the refusal by which EC2 says that it would do it.
func unlessDry(err error) error {
	if refusal.Is(err, "DryRunOperation") {
		return nil
	}
	return err
}

// dropTemplate deletes the launch template of a trial; the next sweep does if that fails.
func (t *Trials) dropTemplate(ctx context.Context, name string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), dropWithin)
	defer stop()
	if err := t.cfg.Templates.Drop(ctx, name); err != nil {
		t.cfg.Said(say.Line{Failed: true, Message: "A launch template that was made to try a class out cannot be deleted; that is tried again", Fields: map[string]string{"launch-template": name, "error": err.Error()}})
	}
}

// dropWithin is how long the end of a trial's template may take although what
// asked for the trial has ended.
const dropWithin = 10 * time.Second

// carriedOut notes that what answers for EC2 carries dry runs out, so that none is sent again.
func (t *Trials) carriedOut() {
	t.stop()
	t.cfg.Said(say.Line{Failed: true, Message: "What answers for EC2 carries dry runs out: what came of them is given back, and no class is tried any more"})
}

func (t *Trials) takeBack(ctx context.Context, id string) {
	if err := t.cfg.Machines.Terminate(ctx, []cloud.MachineID{cloud.MachineID(id)})[0]; err != nil {
		t.cfg.Said(say.Line{Failed: true, Message: fmt.Sprintf("Machine %s came of a dry run and cannot be ended: %v", id, err)})
	}
}
