package awsapi_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// discovered is what a controller finds before it launches.
type discovered struct {
	subnets []types.Subnet
	groups  []string
	image   string
}

func discover(t *testing.T, w world) discovered {
	t.Helper()
	byTag := []types.Filter{{Name: aws.String("tag:karpenter.sh/discovery"), Values: []string{"demo"}}}
	subnets := of(w.ec2().DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: byTag})).must(t)
	groups := of(w.ec2().DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{Filters: byTag})).must(t)
	images := of(w.ec2().DescribeImages(t.Context(), &ec2.DescribeImagesInput{
		Owners:  []string{"amazon"},
		Filters: []types.Filter{{Name: aws.String("name"), Values: []string{"amazon-eks-node-al2023-x86_64-standard-1.34-*"}}},
	})).must(t)
	d := discovered{subnets: subnets.Subnets}
	for _, g := range groups.SecurityGroups {
		d.groups = append(d.groups, *g.GroupId)
	}
	if len(d.subnets) != 4 || len(d.groups) != 1 || len(images.Images) != 1 {
		t.Fatalf("found %d subnets, %d groups, %d images; want one subnet a zone, one group, one image", len(d.subnets), len(d.groups), len(images.Images))
	}
	d.image = *images.Images[0].ImageId
	return d
}

func (w world) template(t *testing.T, d discovered, name string) {
	t.Helper()
	of(w.ec2().CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &name,
		LaunchTemplateData: &types.RequestLaunchTemplateData{
			ImageId: &d.image, SecurityGroupIds: d.groups, UserData: aws.String(base64.StdEncoding.EncodeToString([]byte("#!/bin/bash"))),
			IamInstanceProfile: &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: aws.String("KarpenterNodeInstanceProfile-demo")},
			TagSpecifications: []types.LaunchTemplateTagSpecificationRequest{
				{ResourceType: types.ResourceTypeVolume, Tags: []types.Tag{{Key: aws.String("disk"), Value: aws.String("yes")}}},
			},
		},
		TagSpecifications: []types.TagSpecification{
			{ResourceType: types.ResourceTypeLaunchTemplate, Tags: []types.Tag{{Key: aws.String("karpenter.k8s.aws/cluster"), Value: aws.String("demo")}}},
		},
	})).must(t)
}

func fleet(template string, n int32, kind types.DefaultTargetCapacityType, overrides ...types.FleetLaunchTemplateOverridesRequest) *ec2.CreateFleetInput {
	return &ec2.CreateFleetInput{
		Type: types.FleetTypeInstant,
		LaunchTemplateConfigs: []types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: &template, Version: aws.String("$Latest")},
			Overrides:                   overrides,
		}},
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{TotalTargetCapacity: &n, DefaultTargetCapacityType: kind},
		TagSpecifications: []types.TagSpecification{{
			ResourceType: types.ResourceTypeInstance,
			Tags:         []types.Tag{{Key: aws.String("karpenter.sh/nodepool"), Value: aws.String("default")}},
		}},
	}
}

func override(d discovered, typ string, subnet int) types.FleetLaunchTemplateOverridesRequest {
	return types.FleetLaunchTemplateOverridesRequest{InstanceType: types.InstanceType(typ), SubnetId: d.subnets[subnet].SubnetId}
}

func TestFromTemplateToTerminated(t *testing.T) {
	w := serve(t, nil)
	d := discover(t, w)
	w.template(t, d, "demo-1")
	in := fleet("demo-1", 3, types.DefaultTargetCapacityTypeSpot, override(d, "m5.large", 0), override(d, "c5.large", 1))
	in.ClientToken = aws.String("order-1")
	in.SpotOptions = &types.SpotOptionsRequest{AllocationStrategy: types.SpotAllocationStrategyPriceCapacityOptimized}
	got := of(w.ec2().CreateFleet(t.Context(), in)).must(t)
	var ids []string
	for _, g := range got.Instances {
		ids = append(ids, g.InstanceIds...)
	}
	if len(ids) != 3 || len(got.Errors) != 0 {
		t.Fatalf("launched %v with errors %v, want three machines", ids, got.Errors)
	}
	again := of(w.ec2().CreateFleet(t.Context(), in)).must(t)
	if diff := cmp.Diff(got.Instances, again.Instances, cmpopts.IgnoreUnexported(
		types.CreateFleetInstance{}, types.LaunchTemplateAndOverridesResponse{}, types.FleetLaunchTemplateSpecification{}, types.FleetLaunchTemplateOverrides{})); diff != "" {
		t.Errorf("the same token gave other machines: -first +again\n%s", diff)
	}
	running := []types.Filter{{Name: aws.String("instance-state-name"), Values: []string{"running"}}, {Name: aws.String("tag-key"), Values: []string{"karpenter.sh/nodepool"}}}
	var seen []types.Instance
	eventually(t, "three machines run", func() bool {
		seen = nil
		out := of(w.ec2().DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{Filters: running})).must(t)
		for _, r := range out.Reservations {
			seen = append(seen, r.Instances...)
		}
		return len(seen) == 3
	})
	i := seen[0]
	if i.InstanceLifecycle != types.InstanceLifecycleTypeSpot || !strings.HasSuffix(*i.PrivateDnsName, ".us-west-2.compute.internal") ||
		!strings.HasSuffix(*i.IamInstanceProfile.Arn, "instance-profile/KarpenterNodeInstanceProfile-demo") || *i.ClientToken != "order-1" {
		t.Errorf("a machine looks wrong: %+v", i)
	}
	out := of(w.ec2().TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: ids})).must(t)
	if len(out.TerminatingInstances) != 3 || out.TerminatingInstances[0].CurrentState.Name != types.InstanceStateNameShuttingDown {
		t.Errorf("terminated %+v", out.TerminatingInstances)
	}
	eventually(t, "the machines are terminated", func() bool {
		out := of(w.ec2().DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: ids})).must(t)
		return !slices.ContainsFunc(out.Reservations, func(r types.Reservation) bool {
			return slices.ContainsFunc(r.Instances, func(i types.Instance) bool { return i.State.Name != types.InstanceStateNameTerminated })
		})
	})
}

func TestCapacityErrorIsTheWholeSentence(t *testing.T) {
	w := serve(t, func(c *awsapi.Config) { c.Region = "cn-north-1" })
	a := of(w.ec2().DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []types.Filter{
		{Name: aws.String("availability-zone"), Values: []string{"cn-north-1a"}}, {Name: aws.String("tag:karpenter.sh/discovery"), Values: []string{"demo"}},
	}})).must(t)
	d := discovered{subnets: a.Subnets, image: *of(w.ec2().DescribeImages(t.Context(), &ec2.DescribeImagesInput{
		Filters: []types.Filter{{Name: aws.String("name"), Values: []string{"amazon-eks-node-1.34-*"}}},
	})).must(t).Images[0].ImageId}
	w.template(t, d, "Karpenter-demo-1")
	w.Market.SetCapacity(market.Capacity{Zone: "cn-north-1a", Type: "p3.8xlarge"})
	got := of(w.ec2().CreateFleet(t.Context(), fleet("Karpenter-demo-1", 1, types.DefaultTargetCapacityTypeOnDemand, override(d, "p3.8xlarge", 0)))).must(t)
	want := "We currently do not have sufficient p3.8xlarge capacity in the Availability Zone you requested (cn-north-1a). " +
		"Our system will be working on provisioning additional capacity. " +
		"You can currently get p3.8xlarge capacity by not specifying an Availability Zone in your request or choosing cn-north-1b."
	if len(got.Errors) != 1 || *got.Errors[0].ErrorCode != "InsufficientInstanceCapacity" || *got.Errors[0].ErrorMessage != want {
		t.Errorf("got %s: %s, want one error: %s", aws.ToString(got.Errors[0].ErrorCode), aws.ToString(got.Errors[0].ErrorMessage), want)
	}
}

func TestRefusals(t *testing.T) {
	w := serve(t, nil)
	d := discover(t, w)
	w.template(t, d, "demo-1")
	api := w.ec2()
	cases := map[string]struct {
		why  string
		call func() error
		want string
	}{
		"NoTemplate": {"A template that is gone is an error of the whole call, so that the caller can make it again.", func() error {
			_, err := api.CreateFleet(t.Context(), fleet("nope", 1, types.DefaultTargetCapacityTypeSpot, override(d, "m5.large", 0)))
			return err
		}, "InvalidLaunchTemplateName.NotFoundException"},
		"TemplateExists": {"Names of templates are taken once.", func() error {
			_, err := api.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String("demo-1"), LaunchTemplateData: &types.RequestLaunchTemplateData{}})
			return err
		}, "InvalidLaunchTemplateName.AlreadyExistsException"},
		"NoInstance": {"An unknown id is an error, not an empty answer.", func() error {
			_, err := api.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{"i-0123456789abcdef0"}})
			return err
		}, "InvalidInstanceID.NotFound"},
		"DryRun": {"A dry run that would have worked says so by an error.", func() error {
			in := fleet("demo-1", 1, types.DefaultTargetCapacityTypeSpot, override(d, "m5.large", 0))
			in.DryRun = aws.Bool(true)
			_, err := api.CreateFleet(t.Context(), in)
			return err
		}, "DryRunOperation"},
		"DryRunOfRunInstances": {"The instance profile is checked before.", func() error {
			_, err := api.RunInstances(t.Context(), &ec2.RunInstancesInput{
				DryRun: aws.Bool(true), ImageId: &d.image, InstanceType: "m5.large", MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
				IamInstanceProfile: &types.IamInstanceProfileSpecification{Name: aws.String("nope")},
			})
			return err
		}, "InvalidParameterValue"},
		"NoImage": {"An image that is not there is named.", func() error {
			_, err := api.DescribeImages(t.Context(), &ec2.DescribeImagesInput{ImageIds: []string{"ami-0123456789abcdef0"}})
			return err
		}, "InvalidAMIID.NotFound"},
		"UnknownAction": {"What is not served is refused as AWS refuses an action it does not have.", func() error {
			_, err := api.DescribeKeyPairs(t.Context(), &ec2.DescribeKeyPairsInput{})
			return err
		}, "InvalidAction"},
		"UnknownParameter": {"So is a parameter.", func() error {
			in := fleet("demo-1", 1, types.DefaultTargetCapacityTypeSpot, override(d, "m5.large", 0))
			in.ReplaceUnhealthyInstances = aws.Bool(true)
			_, err := api.CreateFleet(t.Context(), in)
			return err
		}, "UnknownParameter"},
		"UnknownFilter": {"A filter that does not exist is not ignored.", func() error {
			_, err := api.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []types.Filter{{Name: aws.String("colour"), Values: []string{"red"}}}})
			return err
		}, "InvalidParameterValue"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := code(c.call()); got != c.want {
				t.Errorf("the code is %q, want %q: %s", got, c.want, c.why)
			}
		})
	}
}

func TestTemplateSurvivesTheRoundTrip(t *testing.T) {
	w := serve(t, nil)
	data := &types.RequestLaunchTemplateData{
		ImageId: aws.String("ami-0123456789abcdef0"), UserData: aws.String("aGVsbG8="), EbsOptimized: aws.Bool(true),
		BlockDeviceMappings: []types.LaunchTemplateBlockDeviceMappingRequest{{
			DeviceName: aws.String("/dev/xvda"),
			Ebs:        &types.LaunchTemplateEbsBlockDeviceRequest{VolumeSize: aws.Int32(20), VolumeType: types.VolumeTypeGp3, Encrypted: aws.Bool(true), DeleteOnTermination: aws.Bool(true)},
		}},
		MetadataOptions: &types.LaunchTemplateInstanceMetadataOptionsRequest{
			HttpTokens: types.LaunchTemplateHttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(1), HttpEndpoint: types.LaunchTemplateInstanceMetadataEndpointStateEnabled,
		},
		Monitoring: &types.LaunchTemplatesMonitoringRequest{Enabled: aws.Bool(false)},
		NetworkInterfaces: []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{
			DeviceIndex: aws.Int32(0), NetworkCardIndex: aws.Int32(0), Groups: []string{"sg-1", "sg-2"}, InterfaceType: aws.String("interface"), AssociatePublicIpAddress: aws.Bool(false),
		}},
		TagSpecifications: []types.LaunchTemplateTagSpecificationRequest{{ResourceType: types.ResourceTypeVolume, Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("")}}}},
	}
	of(w.ec2().CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String("karpenter.k8s.aws/123"), LaunchTemplateData: data})).must(t)
	out := of(w.ec2().DescribeLaunchTemplateVersions(t.Context(), &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateName: aws.String("karpenter.k8s.aws/123"), Versions: []string{"$Latest"},
	})).must(t)
	got := out.LaunchTemplateVersions[0].LaunchTemplateData
	nic, disk := got.NetworkInterfaces[0], got.BlockDeviceMappings[0]
	checks := map[string]bool{
		"user data":         *got.UserData == "aGVsbG8=",
		"disk":              *disk.DeviceName == "/dev/xvda" && *disk.Ebs.VolumeSize == 20 && disk.Ebs.VolumeType == types.VolumeTypeGp3 && *disk.Ebs.Encrypted,
		"metadata":          got.MetadataOptions.HttpTokens == types.LaunchTemplateHttpTokensStateRequired && *got.MetadataOptions.HttpPutResponseHopLimit == 1,
		"monitoring":        !*got.Monitoring.Enabled,
		"interface":         slices.Equal(nic.Groups, []string{"sg-1", "sg-2"}) && *nic.DeviceIndex == 0 && !*nic.AssociatePublicIpAddress,
		"tags":              *got.TagSpecifications[0].Tags[0].Key == "k" && *got.TagSpecifications[0].Tags[0].Value == "",
		"ebs optimised":     *got.EbsOptimized,
		"what was not said": got.CreditSpecification == nil && got.MaintenanceOptions == nil && got.InstanceMarketOptions == nil && got.IamInstanceProfile == nil,
	}
	for what, right := range checks {
		if !right {
			t.Errorf("%s was changed on the way: %+v", what, got)
		}
	}
	of(w.ec2().DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: aws.String("karpenter.k8s.aws/123")})).must(t)
	_, err := w.ec2().DescribeLaunchTemplates(t.Context(), &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{"karpenter.k8s.aws/123"}})
	if code(err) != "InvalidLaunchTemplateName.NotFoundException" {
		t.Errorf("describing the deleted template gave %v", err)
	}
}

func TestTypesOfferingsAndPricesArePaged(t *testing.T) {
	w := serve(t, nil)
	all := map[types.InstanceType]types.InstanceTypeInfo{}
	pages := 0
	for p := ec2.NewDescribeInstanceTypesPaginator(w.ec2(), &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(100), Filters: []types.Filter{
		{Name: aws.String("supported-virtualization-type"), Values: []string{"hvm"}},
		{Name: aws.String("processor-info.supported-architecture"), Values: []string{"x86_64", "arm64"}},
	}}); p.HasMorePages(); pages++ {
		for _, i := range of(p.NextPage(t.Context())).must(t).InstanceTypes {
			all[i.InstanceType] = i
		}
	}
	if len(all) < 1000 || pages < 10 {
		t.Fatalf("%d types on %d pages", len(all), pages)
	}
	gpu := all["g4dn.xlarge"]
	if *gpu.VCpuInfo.DefaultVCpus != 4 || *gpu.MemoryInfo.SizeInMiB != 16384 || *gpu.GpuInfo.Gpus[0].Manufacturer != "NVIDIA" || *gpu.GpuInfo.Gpus[0].Count != 1 ||
		*gpu.InstanceStorageInfo.TotalSizeInGB != 125 || *gpu.NetworkInfo.MaximumNetworkInterfaces != 3 || *gpu.NetworkInfo.Ipv4AddressesPerInterface != 10 {
		t.Errorf("g4dn.xlarge looks wrong: %+v", gpu)
	}
	inf := all["inf2.xlarge"]
	if inf.NeuronInfo == nil || *inf.NeuronInfo.NeuronDevices[0].CoreInfo.Count != 2 {
		t.Errorf("inf2.xlarge looks wrong: %+v", inf.NeuronInfo)
	}
	offered := 0
	for p := ec2.NewDescribeInstanceTypeOfferingsPaginator(w.ec2(), &ec2.DescribeInstanceTypeOfferingsInput{LocationType: types.LocationTypeAvailabilityZone}); p.HasMorePages(); {
		offered += len(of(p.NextPage(t.Context())).must(t).InstanceTypeOfferings)
	}
	if offered != 4961 {
		t.Errorf("%d offerings, want those of us-west-2", offered)
	}
	spot := 0
	for p := ec2.NewDescribeSpotPriceHistoryPaginator(w.ec2(), &ec2.DescribeSpotPriceHistoryInput{ProductDescriptions: []string{"Linux/UNIX"}}); p.HasMorePages(); {
		spot += len(of(p.NextPage(t.Context())).must(t).SpotPriceHistory)
	}
	if spot < 4000 {
		t.Errorf("%d spot prices", spot)
	}
}
