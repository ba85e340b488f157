package beside

import (
	"context"
	"slices"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/notice"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cloudtest"
)

// TestLaw holds the driver to the law of drivers on the server.
func TestLaw(t *testing.T) {
	environment(t)
	cloudtest.Run(t, func(t *testing.T) cloudtest.Stage { return open(t).stage() })
}

// A class' life: it is tried out, machines are launched from it, found, named
// and ended, and nothing that was made for it is left.
func TestStory(t *testing.T) {
	environment(t)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	a := open(t)
	d := a.driver()
	found, err := d.Inspect(ctx, templateOf().Class)
	must(t, err)
	if len(found.Broken) > 0 || len(found.Subnets) == 0 || len(found.Groups) == 0 || len(found.Images) == 0 || found.Profile == "" {
		t.Fatalf("the class is found to be %+v", found)
	}
	for what, without := range found.Without {
		t.Logf("%s does without: %s", what, without)
	}
	if n := len(a.running()); n != 0 {
		t.Fatalf("%d machines run after the class was tried out", n)
	}
	c, err := d.Catalog(ctx, templateOf())
	must(t, err)
	if len(c.Shapes) < 100 {
		t.Errorf("only %d types to choose from", len(c.Shapes))
	}
	order := cloud.Order{
		Token: "story", Template: templateOf(), Pool: world.PoolID{Kind: world.NodePool, Name: "general"}, Count: 3, Menu: []string{"c5.large", "m5.large"},
		Requirements: label.SetOf(label.Is(label.CapacityType, label.OnDemand)), Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: 500}),
		Labels: map[string]string{"karpenter.sh/nodepool": "general"},
	}
	out := d.Launch(ctx, []cloud.Order{order})[0]
	if out.Err != nil || len(out.Machines) != 3 || len(a.running()) != 3 {
		t.Fatalf("launched %+v, and %d run", out, len(a.running()))
	}
	must(t, d.Tag(ctx, out.Machines[0].ID, "claim-1", "node-1"))
	again := a.driver() // a process that remembers nothing
	if same := again.Launch(ctx, []cloud.Order{order})[0]; same.Err != nil || len(same.Machines) != 3 || len(a.running()) != 3 {
		t.Fatalf("the same order gave %+v, and %d run", same, len(a.running()))
	}
	listed, err := again.List(ctx)
	must(t, err)
	if len(listed) != 3 || !slices.ContainsFunc(listed, func(m cloud.Machine) bool {
		return m.Tags["karpenter.sh/nodeclaim"] == "claim-1" && m.Tags["Name"] == "node-1"
	}) {
		t.Errorf("listed are %+v", listed)
	}
	if why, err := again.Drift(ctx, out.Machines[0], templateOf()); err != nil || why != (cloud.Drifted{}) {
		t.Errorf("a machine that was launched just now has drifted: %v, %v", why, err)
	}
	var ids []cloud.MachineID
	for _, m := range listed {
		ids = append(ids, m.ID)
	}
	for i, err := range again.Terminate(ctx, append(ids, "i-00000000000000000")) {
		if err != nil {
			t.Errorf("end machine %d: %v", i, err)
		}
	}
	must(t, again.Retire(ctx, templateOf().Class))
	a.empty(t)
}

// empty wants nothing of the driver's left.
func (a *account) empty(t *testing.T) {
	t.Helper()
	if left := a.running(); len(left) > 0 {
		t.Errorf("%d machines are left", len(left))
	}
	templates := of(a.ec2.DescribeLaunchTemplates(t.Context(), &ec2.DescribeLaunchTemplatesInput{}))(t).LaunchTemplates
	if len(templates) > 0 {
		t.Errorf("%d launch templates are left", len(templates))
	}
	profiles := of(a.iam.ListInstanceProfiles(t.Context(), &iam.ListInstanceProfilesInput{}))(t).InstanceProfiles
	if len(profiles) > 0 {
		t.Errorf("%d instance profiles are left", len(profiles))
	}
}

// Notices are taken off the queue; what is none is deleted and told.
func TestNotices(t *testing.T) {
	environment(t)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	a := open(t)
	at := of(a.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: awssdk.String(queue)}))(t).QueueUrl
	for _, body := range []string{
		`{"source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","detail":{"instance-id":"i-1"}}`, "no notice",
	} {
		of(a.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: at, MessageBody: awssdk.String(body)}))(t)
	}
	var seen []string
	told := 0
	for range 2 {
		_, err := a.driver().Notices().Drain(ctx, func(_ context.Context, n notice.Notice) error {
			seen = append(seen, n.Instances...)
			return nil
		}, func(error) { told++ })
		must(t, err)
		if len(seen) == 1 && told == 1 {
			break
		}
	}
	if !slices.Equal(seen, []string{"i-1"}) || told != 1 {
		t.Errorf("handled %v, told %d times", seen, told)
	}
	of(a.sqs.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: at}))(t)
}
