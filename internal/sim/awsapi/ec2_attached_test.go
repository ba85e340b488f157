package awsapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// machines launches machines of a template with a second volume that is to outlive them, and waits until they run.
func (w world) machines(t *testing.T, d discovered, n int32) []types.Instance {
	t.Helper()
	of(w.ec2().CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String("attached"),
		LaunchTemplateData: &types.RequestLaunchTemplateData{
			ImageId: &d.image, SecurityGroupIds: d.groups,
			BlockDeviceMappings: []types.LaunchTemplateBlockDeviceMappingRequest{
				{DeviceName: aws.String("/dev/xvda"), Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeSize: aws.Int32(30), VolumeType: types.VolumeTypeGp3, Throughput: aws.Int32(200), Encrypted: aws.Bool(true)}},
				{DeviceName: aws.String("/dev/xvdb"), Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeSize: aws.Int32(7), DeleteOnTermination: aws.Bool(false)}},
			},
			TagSpecifications: []types.LaunchTemplateTagSpecificationRequest{
				{ResourceType: types.ResourceTypeVolume, Tags: []types.Tag{{Key: aws.String("disk"), Value: aws.String("yes")}}},
				{ResourceType: types.ResourceTypeNetworkInterface, Tags: []types.Tag{{Key: aws.String("nic"), Value: aws.String("yes")}}},
			},
		},
	})).must(t)
	of(w.ec2().CreateFleet(t.Context(), fleet("attached", n, types.DefaultTargetCapacityTypeOnDemand, override(d, "m5.large", 0)))).must(t)
	var all []types.Instance
	eventually(t, "the machines run", func() bool {
		all = nil
		for _, r := range of(w.ec2().DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})).must(t).Reservations {
			all = append(all, r.Instances...)
		}
		return int32(len(all)) == n && !slices.ContainsFunc(all, func(i types.Instance) bool { return i.State.Name != types.InstanceStateNameRunning })
	})
	return all
}

func filters(kv ...string) []types.Filter {
	var out []types.Filter
	for k := 0; k < len(kv); k += 2 {
		out = append(out, types.Filter{Name: &kv[k], Values: []string{kv[k+1]}})
	}
	return out
}

// The volumes that are described are those the machines' descriptions name, as they were asked for.
func TestVolumesOfMachines(t *testing.T) {
	w := serve(t, nil)
	all := w.machines(t, discover(t, w), 4)
	api, one := w.ec2(), all[0]
	id := one.BlockDeviceMappings[0].Ebs.VolumeId
	v := of(api.DescribeVolumes(t.Context(), &ec2.DescribeVolumesInput{VolumeIds: []string{*id}})).must(t).Volumes[0]
	if *v.VolumeId != *id || *v.Size != 30 || v.VolumeType != types.VolumeTypeGp3 || *v.Throughput != 200 || !*v.Encrypted || v.State != types.VolumeStateInUse ||
		*v.AvailabilityZone != *one.Placement.AvailabilityZone || len(v.Tags) != 1 || *v.Tags[0].Key != "disk" ||
		len(v.Attachments) != 1 || *v.Attachments[0].InstanceId != *one.InstanceId || *v.Attachments[0].Device != "/dev/xvda" || !*v.Attachments[0].DeleteOnTermination {
		t.Errorf("the root volume is %+v", v)
	}
	count := func(f []types.Filter) int {
		return len(of(api.DescribeVolumes(t.Context(), &ec2.DescribeVolumesInput{Filters: f})).must(t).Volumes)
	}
	for want, f := range map[int][]types.Filter{
		2: filters("attachment.instance-id", *one.InstanceId),
		1: filters("attachment.instance-id", *one.InstanceId, "attachment.device", "/dev/xvdb", "size", "7", "volume-type", "gp2", "encrypted", "false"),
		4: filters("attachment.delete-on-termination", "true", "tag:disk", "yes", "status", "in-use"),
		0: filters("availability-zone", "us-west-2z"),
		8: filters("attachment.status", "attached", "availability-zone", *one.Placement.AvailabilityZone),
	} {
		if got := count(f); got != want {
			t.Errorf("%d volumes of %v, want %d", got, f, want)
		}
	}
	seen := 0
	for p := ec2.NewDescribeVolumesPaginator(api, &ec2.DescribeVolumesInput{MaxResults: aws.Int32(5)}); p.HasMorePages(); {
		page := of(p.NextPage(t.Context())).must(t).Volumes
		if len(page) > 5 {
			t.Errorf("%d volumes on a page of 5", len(page))
		}
		seen += len(page)
	}
	if seen != 8 {
		t.Errorf("%d volumes on all pages, want 8", seen)
	}
}

// A machine takes its volumes with it but for those that were launched to stay, which can be tagged and found.
func TestVolumesAfterTermination(t *testing.T) {
	w := serve(t, nil)
	one := w.machines(t, discover(t, w), 1)[0]
	gone, left := *one.BlockDeviceMappings[0].Ebs.VolumeId, *one.BlockDeviceMappings[1].Ebs.VolumeId
	nic := *one.NetworkInterfaces[0].NetworkInterfaceId
	of(w.ec2().TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{*one.InstanceId}})).must(t)
	var all []types.Volume
	eventually(t, "one volume is left", func() bool {
		all = of(w.ec2().DescribeVolumes(t.Context(), &ec2.DescribeVolumesInput{})).must(t).Volumes
		return len(all) == 1
	})
	if *all[0].VolumeId != left || all[0].State != types.VolumeStateAvailable || len(all[0].Attachments) != 0 {
		t.Errorf("left is %+v, want %s", all[0], left)
	}
	tags := []types.Tag{{Key: aws.String("keep"), Value: aws.String("1")}}
	of(w.ec2().CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: []string{left}, Tags: tags})).must(t)
	found := of(w.ec2().DescribeVolumes(t.Context(), &ec2.DescribeVolumesInput{Filters: filters("tag-key", "keep", "status", "available")})).must(t).Volumes
	if len(found) != 1 {
		t.Errorf("%d volumes with the tag, want 1", len(found))
	}
	kept, _ := w.Market.Keep()
	if len(kept.Volumes) != 1 || kept.Volumes[0].ID != left || kept.Volumes[0].Tags["keep"] != "1" {
		t.Errorf("kept are %+v", kept.Volumes)
	}
	if _, err := w.ec2().CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: []string{gone}, Tags: tags}); code(err) != "InvalidID" {
		t.Errorf("tagging a volume that is gone gave %v", err)
	}
	if _, err := w.ec2().DescribeVolumes(t.Context(), &ec2.DescribeVolumesInput{VolumeIds: []string{left, gone}}); code(err) != "InvalidVolume.NotFound" {
		t.Errorf("describing a volume that is gone gave %v", err)
	}
	if _, err := w.ec2().DescribeNetworkInterfaces(t.Context(), &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{nic}}); code(err) != "InvalidNetworkInterfaceID.NotFound" {
		t.Errorf("describing an interface that is gone gave %v", err)
	}
}

// The interfaces that are described are those the machines' descriptions name.
func TestNetworkInterfacesOfMachines(t *testing.T) {
	w := serve(t, nil)
	d := discover(t, w)
	all := w.machines(t, d, 6)
	api, one := w.ec2(), all[0]
	id := *one.NetworkInterfaces[0].NetworkInterfaceId
	n := of(api.DescribeNetworkInterfaces(t.Context(), &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})).must(t).NetworkInterfaces[0]
	if *n.NetworkInterfaceId != id || *n.SubnetId != *one.SubnetId || *n.VpcId != *one.VpcId || *n.PrivateIpAddress != *one.PrivateIpAddress ||
		*n.PrivateDnsName != *one.PrivateDnsName || n.Status != types.NetworkInterfaceStatusInUse || *n.MacAddress != *one.NetworkInterfaces[0].MacAddress ||
		!strings.HasPrefix(*n.MacAddress, "02:") || len(n.PrivateIpAddresses) != 1 || !*n.PrivateIpAddresses[0].Primary ||
		len(n.Groups) != 1 || *n.Groups[0].GroupId != d.groups[0] || *n.AvailabilityZone != *one.Placement.AvailabilityZone ||
		len(n.TagSet) != 1 || *n.TagSet[0].Key != "nic" || *n.Attachment.InstanceId != *one.InstanceId || *n.Attachment.DeviceIndex != 0 ||
		n.Attachment.Status != types.AttachmentStatusAttached || *n.Attachment.AttachmentId != *one.NetworkInterfaces[0].Attachment.AttachmentId {
		t.Errorf("the interface is %+v with attachment %+v", n, n.Attachment)
	}
	count := func(f []types.Filter) int {
		return len(of(api.DescribeNetworkInterfaces(t.Context(), &ec2.DescribeNetworkInterfacesInput{Filters: f})).must(t).NetworkInterfaces)
	}
	for want, f := range map[int][]types.Filter{
		1: filters("attachment.instance-id", *one.InstanceId, "private-ip-address", *one.PrivateIpAddress, "mac-address", *n.MacAddress),
		6: filters("group-id", d.groups[0], "tag:nic", "yes", "subnet-id", *one.SubnetId, "group-name", "eksctl-demo-nodes"),
		0: filters("status", "available"),
	} {
		if got := count(f); got != want {
			t.Errorf("%d interfaces of %v, want %d", got, f, want)
		}
	}
	pages := 0
	for p := ec2.NewDescribeNetworkInterfacesPaginator(api, &ec2.DescribeNetworkInterfacesInput{MaxResults: aws.Int32(5)}); p.HasMorePages(); pages++ {
		of(p.NextPage(t.Context())).must(t)
	}
	if pages != 2 {
		t.Errorf("six interfaces on %d pages of five, want 2", pages)
	}
}

func TestRefusalsOfWhatIsAttached(t *testing.T) {
	w := serve(t, nil)
	api := w.ec2()
	volumes := func(in ec2.DescribeVolumesInput) error { _, err := api.DescribeVolumes(t.Context(), &in); return err }
	interfaces := func(in ec2.DescribeNetworkInterfacesInput) error {
		_, err := api.DescribeNetworkInterfaces(t.Context(), &in)
		return err
	}
	cases := map[string]struct {
		err  error
		want string
	}{
		"NoVolume":         {volumes(ec2.DescribeVolumesInput{VolumeIds: []string{"vol-0123456789abcdef0"}}), "InvalidVolume.NotFound"},
		"NotAVolume":       {volumes(ec2.DescribeVolumesInput{VolumeIds: []string{"disk-1"}}), "InvalidParameterValue"},
		"VolumePages":      {volumes(ec2.DescribeVolumesInput{VolumeIds: []string{"vol-0123456789abcdef0"}, MaxResults: aws.Int32(5)}), "InvalidParameterCombination"},
		"VolumeFilter":     {volumes(ec2.DescribeVolumesInput{Filters: filters("attachment.colour", "red")}), "InvalidParameterValue"},
		"VolumeToken":      {volumes(ec2.DescribeVolumesInput{NextToken: aws.String("nonsense")}), "InvalidNextToken"},
		"NoInterface":      {interfaces(ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{"eni-0123456789abcdef0"}}), "InvalidNetworkInterfaceID.NotFound"},
		"NotAnInterface":   {interfaces(ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{"nic-1"}}), "InvalidNetworkInterfaceId.Malformed"},
		"InterfacePages":   {interfaces(ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{"eni-0123456789abcdef0"}, MaxResults: aws.Int32(5)}), "InvalidParameterCombination"},
		"InterfaceFilter":  {interfaces(ec2.DescribeNetworkInterfacesInput{Filters: filters("colour", "red")}), "InvalidParameterValue"},
		"InterfaceFewEach": {interfaces(ec2.DescribeNetworkInterfacesInput{MaxResults: aws.Int32(1)}), "InvalidParameterValue"},
	}
	for name, c := range cases {
		if got := code(c.err); got != c.want {
			t.Errorf("%s: the code is %q, want %q", name, got, c.want)
		}
	}
}
