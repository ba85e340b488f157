package aws_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/notice"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// shaped returns a check of every request of the suites against the SDK's model:
// members that must be there are checked by the SDK itself, which sends nothing
// without them; this looks at values that a service allows, and at the limits
// that its reference names.
func shaped(t *testing.T) access.OnCall {
	return func(service, action string, input any) {
		for _, wrong := range misshapen(action, input) {
			t.Errorf("%s:%s would be refused: %s", service, action, wrong)
		}
	}
}

// misshapen says what of a request its service does not allow.
func misshapen(action string, input any) []string {
	var wrong []string
	walk(reflect.ValueOf(input), "", func(at string, v reflect.Value) {
		if err := valid(action, at, v); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", at, err))
		}
	})
	return wrong
}

// walk visits all members that are set.
func walk(v reflect.Value, at string, visit func(string, reflect.Value)) {
	if !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		if v.Elem().Kind() == reflect.String && v.Elem().Len() == 0 {
			visit(at+" (empty)", v.Elem())
		}
		walk(v.Elem(), at, visit)
	case reflect.Struct:
		visit(at, v)
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				walk(v.Field(i), strings.TrimPrefix(at+"."+f.Name, "."), visit)
			}
		}
	case reflect.Slice:
		visit(at, v)
		for i := range v.Len() {
			walk(v.Index(i), at, visit)
		}
	default:
		visit(at, v)
	}
}

// The limits of the services' references, by action and member.
var (
	templateName = regexp.MustCompile(`^[a-zA-Z0-9().\-/_]{3,128}$`)
	profileName  = regexp.MustCompile(`^[\w+=,.@-]{1,128}$`)
	profilePath  = regexp.MustCompile(`^/(.*/)?$`)
	numbers      = map[string][2]int64{
		"DescribeInstances.MaxResults": {5, 1000}, "DescribeInstanceTypes.MaxResults": {5, 100}, "DescribeInstanceTypeOfferings.MaxResults": {5, 1000},
		"DescribeLaunchTemplates.MaxResults": {1, 200}, "DescribeInstanceStatus.MaxResults": {5, 1000}, "DescribeSpotPriceHistory.MaxResults": {1, 1000},
		"DescribeSubnets.MaxResults": {5, 1000}, "DescribeSecurityGroups.MaxResults": {5, 1000}, "DescribeImages.MaxResults": {1, 1000},
		"DescribeCapacityReservations.MaxResults": {1, 1000}, "GetProducts.MaxResults": {1, 100}, "ListInstanceProfiles.MaxItems": {1, 1000},
		"ReceiveMessage.MaxNumberOfMessages": {1, 10}, "ReceiveMessage.WaitTimeSeconds": {0, 20}, "ReceiveMessage.VisibilityTimeout": {0, 43200},
		"CreateLaunchTemplate.LaunchTemplateData.MetadataOptions.HttpPutResponseHopLimit": {1, 64},
	}
	lengths = map[string]int{
		"DescribeInstanceTypes.InstanceTypes": 100, "TerminateInstances.InstanceIds": 1000, "DeleteMessageBatch.Entries": 10, "CreateTags.Resources": 1000,
		"CreateFleet.LaunchTemplateConfigs": 50,
	}
)

func valid(action, at string, v reflect.Value) error {
	name := action + "." + at
	if err := named(v); err != nil {
		return err
	}
	switch limit, limited := numbers[name]; {
	case limited && v.CanInt() && (v.Int() < limit[0] || v.Int() > limit[1]):
		return fmt.Errorf("%d is not from %d to %d", v.Int(), limit[0], limit[1])
	case v.Kind() == reflect.Slice && lengths[name] > 0 && v.Len() > lengths[name]:
		return fmt.Errorf("%d are more than %d", v.Len(), lengths[name])
	case v.Kind() == reflect.Slice && strings.HasSuffix(at, "Tags") && v.Len() > 50:
		return fmt.Errorf("%d tags are more than 50", v.Len())
	case v.Kind() == reflect.Slice && strings.HasSuffix(at, "Filters.Values") && (v.Len() == 0 || v.Len() > 200):
		return fmt.Errorf("a filter has %d values, and 1 to 200 are allowed", v.Len())
	}
	if v.Kind() != reflect.String {
		return whole(v)
	}
	return text(at, v.String())
}

// named wants a member whose values have names to have one of them.
func named(v reflect.Value) error {
	if v.Kind() != reflect.String || v.Type().PkgPath() == "" || v.Len() == 0 {
		return nil
	}
	values := v.MethodByName("Values")
	if !values.IsValid() {
		return nil
	}
	list := values.Call(nil)[0]
	for i := range list.Len() {
		if list.Index(i).String() == v.String() {
			return nil
		}
	}
	return fmt.Errorf("%q is no value of %s", v.String(), v.Type())
}

func text(at, s string) error {
	last := at[strings.LastIndexByte(at, '.')+1:]
	switch {
	case strings.HasSuffix(at, " (empty)"):
		if strings.HasSuffix(at, "Tags.Value (empty)") || strings.HasSuffix(at, "UserData (empty)") {
			return nil
		}
		return errors.New("it is there and empty")
	case last == "LaunchTemplateName" && !templateName.MatchString(s),
		last == "InstanceProfileName" && !profileName.MatchString(s),
		(last == "Path" || last == "PathPrefix") && !profilePath.MatchString(s):
		return fmt.Errorf("%q is no such name", s)
	case last == "ClientToken" && len(s) > 64:
		return fmt.Errorf("%q is longer than 64", s)
	case strings.HasSuffix(at, "Tags.Key") && (s == "" || len(s) > 128 || strings.HasPrefix(s, "aws:")):
		return fmt.Errorf("%q is no key of a tag", s)
	case strings.HasSuffix(at, "Tags.Value") && len(s) > 256:
		return fmt.Errorf("%q is too long for a tag", s)
	case last == "UserData":
		raw, err := base64.StdEncoding.DecodeString(s)
		if err != nil || len(raw) > 16<<10 {
			return fmt.Errorf("%d bytes of user data, %w", len(raw), err)
		}
	}
	return nil
}

// whole looks at what members may not be together.
func whole(v reflect.Value) error {
	switch in := v.Interface().(type) {
	case ec2.CreateFleetInput:
		overrides := 0
		for _, c := range in.LaunchTemplateConfigs {
			overrides += len(c.Overrides)
		}
		if overrides > 300 {
			return fmt.Errorf("%d overrides are more than 300", overrides)
		}
	case ec2.RunInstancesInput:
		if len(in.NetworkInterfaces) > 0 && (in.SubnetId != nil || len(in.SecurityGroupIds) > 0) {
			return errors.New("a subnet or groups beside network interfaces")
		}
	case ec2types.RequestLaunchTemplateData:
		if len(in.NetworkInterfaces) > 0 && (len(in.SecurityGroupIds) > 0 || len(in.SecurityGroups) > 0) {
			return errors.New("groups beside network interfaces")
		}
	case ec2.DescribeImagesInput:
		if len(in.ImageIds) > 0 && in.MaxResults != nil {
			return errors.New("ids beside a number of results")
		}
	case ec2.DescribeInstancesInput:
		if len(in.InstanceIds) > 0 && in.MaxResults != nil {
			return errors.New("ids beside a number of results")
		}
	case ec2.DescribeLaunchTemplatesInput:
		if (len(in.LaunchTemplateIds) > 0 || len(in.LaunchTemplateNames) > 0) && in.MaxResults != nil {
			return errors.New("names beside a number of results")
		}
	case ec2types.LaunchTemplateSpecification:
		if (in.LaunchTemplateId == nil) == (in.LaunchTemplateName == nil) {
			return errors.New("a launch template needs its id or its name")
		}
	}
	return nil
}

// What a service would refuse is found.
func TestMisshapen(t *testing.T) {
	empty, long, name := "", strings.Repeat("x", 300), "a"
	tests := map[string]any{
		"no value of":             &ec2.DescribeInstanceTypeOfferingsInput{LocationType: "city"},
		"not from 5 to 100":       &ec2.DescribeInstanceTypesInput{MaxResults: new(int32)},
		"there and empty":         &ec2.RunInstancesInput{ImageId: &empty},
		"no such name":            &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: &name},
		"too long for a tag":      &ec2.CreateTagsInput{Tags: []ec2types.Tag{{Key: &name, Value: &long}}},
		"beside network":          &ec2.RunInstancesInput{SubnetId: &name, NetworkInterfaces: make([]ec2types.InstanceNetworkInterfaceSpecification, 1)},
		"a filter has 0 values":   &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{{Name: &name, Values: []string{}}}},
		"needs its id or its":     &ec2.RunInstancesInput{LaunchTemplate: &ec2types.LaunchTemplateSpecification{}},
		"301 overrides":           &ec2.CreateFleetInput{LaunchTemplateConfigs: []ec2types.FleetLaunchTemplateConfigRequest{{Overrides: make([]ec2types.FleetLaunchTemplateOverridesRequest, 301)}}},
		"ids beside a number":     &ec2.DescribeImagesInput{ImageIds: []string{"ami-1"}, MaxResults: new(int32)},
		"51 tags":                 &ec2.CreateTagsInput{Tags: make([]ec2types.Tag, 51)},
		"bytes of user data":      &ec2.RunInstancesInput{UserData: &name},
		"1001 are more than 1000": &ec2.TerminateInstancesInput{InstanceIds: make([]string, 1001)},
	}
	for want, input := range tests {
		action := strings.TrimSuffix(reflect.TypeOf(input).Elem().Name(), "Input")
		if got := strings.Join(misshapen(action, input), "; "); !strings.Contains(got, want) {
			t.Errorf("%s: found %q, want %q", action, got, want)
		}
	}
}

// Every call that the driver declares is sent by one story, and every one has
// the shape that its service wants.
func TestEveryCallIsShaped(t *testing.T) {
	credentials(t)
	var mu sync.Mutex
	heard := map[string]bool{}
	for _, lacks := range [][]string{nil, {"DeleteMessageBatch"}} {
		synctest.Test(t, func(t *testing.T) {
			w := &virtual{
				t: t, queue: "demo", strange: &strange{lacks: lacks},
				settings: func(s *aws.Settings) { s.ZonalShift = true },
				change: func(c *nodeclass.Class) {
					c.PlacementGroup = &nodeclass.Selector{Name: "none"}
					c.Reservations = []nodeclass.ReservationSelector{{Selector: nodeclass.Selector{IDs: []string{"cr-0123456789abcdef0"}}}}
				},
				heard: func(service, action string) {
					mu.Lock()
					defer mu.Unlock()
					heard[service+":"+action] = true
				},
			}
			everything(t, w)
		})
	}
	permissions := []string{"iam:PassRole", "iam:TagInstanceProfile"} // what others of the calls need besides
	for _, c := range access.Calls() {
		if name := c.Service + ":" + c.Action; !heard[name] && !slices.Contains(permissions, name) {
			t.Errorf("%s is declared and was not sent", name)
		}
	}
}

// everything has a driver send whatever it can send.
func everything(t *testing.T, w *virtual) {
	t.Helper()
	d, ref := w.start(), templateOf().Class
	_, _ = d.Inspect(t.Context(), ref) // its group is not there
	w.change = nil
	if _, err := d.Inspect(t.Context(), ref); err != nil {
		t.Error(err)
	}
	out := d.Launch(t.Context(), []cloud.Order{order("one", 2, label.Spot, label.OnDemand)})[0]
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if err := errors.Join(d.Start(t.Context()), d.Tag(t.Context(), out.Machines[0].ID, "claim", "node")); err != nil {
		t.Error(err)
	}
	if _, err := d.List(t.Context()); err != nil {
		t.Error(err)
	}
	d.ExamineAccount(t.Context())
	d.ExamineClass(t.Context(), ref)
	if _, err := d.Checks().Look(t.Context(), func(context.Context, notice.Notice) error { return nil }, func(error) {}); err != nil {
		t.Error(err)
	}
	if _, err := w.account().Market.Send("demo", "no notice"); err != nil {
		t.Error(err)
	}
	if _, err := d.Notices().Drain(t.Context(), func(context.Context, notice.Notice) error { return nil }, func(error) {}); err != nil {
		t.Error(err)
	}
	var ids []cloud.MachineID
	for _, m := range out.Machines {
		ids = append(ids, m.ID)
	}
	if err := errors.Join(d.Terminate(t.Context(), ids)...); err != nil {
		t.Error(err)
	}
	time.Sleep(2 * time.Minute)
	if err := errors.Join(d.Sweep(t.Context()), d.Retire(t.Context(), ref)); err != nil {
		t.Error(err)
	}
}
