// Package template makes the launch templates that machines start from, finds them again, and deletes those no longer used.
package template

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
)

// Settings is all that goes into a launch template. Equal Settings share one. A
// field that is added later is left out of the name while it is empty, or a new
// release would make every template again.
type Settings struct {
	Legacy      bool
	Class       string // name, for the tag by which a class' templates are found
	Pool        string
	Image       string
	UserData    string
	Profile     string
	Groups      []string
	Disks       []nodeclass.Disk
	Metadata    nodeclass.Metadata
	Monitoring  bool
	PublicIP    *bool
	IPPrefixes  *int32
	Interfaces  []nodeclass.Interface
	EFAs        int
	Tracking    *nodeclass.Tracking
	Nested      string
	Enclaves    bool   `json:",omitempty"` // Nitro enclaves
	Placement   string // id of a placement group
	Partition   int    `json:",omitempty"` // of it, if not any
	Dedicated   bool   // on hardware that no other account uses
	Reservation string // id; empty means none is used
	Block       bool   // the reservation is a capacity block
	Interrupts  bool   `json:",omitempty"` // the reservation can be taken back
	AnyReserved bool   `json:",omitempty"` // nothing is said of reservations: EC2 uses those that are open
	Spot        bool
	IPv6        bool
	Tags        map[string]string // of what EC2 makes from it
}

// Name is the template's name: equal settings, equal name.
func (s Settings) Name(cluster string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // Settings holds nothing that JSON cannot write
	}
	h := fnv.New64a()
	_, _ = h.Write(data)
	if s.Legacy {
		return fmt.Sprintf("Karpenter-%s-%d", cluster, h.Sum64())
	}
	return fmt.Sprintf("karpenter.k8s.aws/%d", h.Sum64())
}

// clusterTag is on templates of the v1alpha5 era; its value is the cluster's name.
const clusterTag = "karpenter.k8s.aws/cluster"

// ownTags are the tags of the template itself, as opposed to those of the machines.
func (s Settings) ownTags(cluster string) map[string]string {
	tags := maps.Clone(s.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	tags[clusterTag] = cluster
	tags["eks:eks-cluster-name"] = cluster
	if s.Legacy {
		tags["karpenter.k8s.aws/nodetemplate"] = s.Class
	} else {
		tags["karpenter.k8s.aws/ec2nodeclass"] = s.Class
	}
	return tags
}

// Input is the request that creates the template.
func (s Settings) Input(cluster string) *ec2.CreateLaunchTemplateInput {
	data := &ec2types.RequestLaunchTemplateData{
		ImageId:    aws.String(s.Image),
		UserData:   aws.String(base64.StdEncoding.EncodeToString([]byte(s.UserData))),
		Monitoring: &ec2types.LaunchTemplatesMonitoringRequest{Enabled: aws.Bool(s.Monitoring)},
		MetadataOptions: &ec2types.LaunchTemplateInstanceMetadataOptionsRequest{
			HttpEndpoint:            ec2types.LaunchTemplateInstanceMetadataEndpointState(s.Metadata.Endpoint),
			HttpProtocolIpv6:        ec2types.LaunchTemplateInstanceMetadataProtocolIpv6(s.Metadata.IPv6),
			HttpTokens:              ec2types.LaunchTemplateHttpTokensState(s.Metadata.Tokens),
			HttpPutResponseHopLimit: aws.Int32(int32(s.Metadata.HopLimit)), //nolint:gosec // the API allows 1 to 64
			InstanceMetadataTags:    ec2types.LaunchTemplateInstanceMetadataTagsStateDisabled,
		},
		TagSpecifications: s.tagged(),
	}
	if s.Profile != "" {
		data.IamInstanceProfile = &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: aws.String(s.Profile)}
	}
	for _, d := range s.Disks {
		data.BlockDeviceMappings = append(data.BlockDeviceMappings, disk(d))
	}
	if nics := s.interfaces(); nics != nil {
		data.NetworkInterfaces = nics
	} else {
		data.SecurityGroupIds = s.Groups
	}
	data.Placement = s.placement()
	if s.Nested != "" {
		data.CpuOptions = &ec2types.LaunchTemplateCpuOptionsRequest{NestedVirtualization: ec2types.NestedVirtualizationSpecification(s.Nested)}
	}
	if s.Enclaves {
		data.EnclaveOptions = &ec2types.LaunchTemplateEnclaveOptionsRequest{Enabled: aws.Bool(true)}
	}
	s.reserve(data)
	return &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String(s.Name(cluster)),
		LaunchTemplateData: data,
		TagSpecifications: []ec2types.TagSpecification{{
			ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: Tags(s.ownTags(cluster)),
		}},
	}
}

// placement says where among EC2's hardware; nil if anywhere will do.
func (s Settings) placement() *ec2types.LaunchTemplatePlacementRequest {
	if s.Placement == "" && !s.Dedicated {
		return nil
	}
	out := &ec2types.LaunchTemplatePlacementRequest{}
	if s.Placement != "" {
		out.GroupId = aws.String(s.Placement)
		if s.Partition > 0 {
			out.PartitionNumber = aws.Int32(int32(s.Partition)) //nolint:gosec // a group has at most seven
		}
	}
	if s.Dedicated {
		out.Tenancy = ec2types.TenancyDedicated
	}
	return out
}

// reserve says which reservation the machines may use: the one named, or none.
func (s Settings) reserve(data *ec2types.RequestLaunchTemplateData) {
	if s.Legacy || s.AnyReserved {
		return
	}
	if s.Reservation == "" {
		data.CapacityReservationSpecification = &ec2types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationPreference: ec2types.CapacityReservationPreferenceNone,
		}
		return
	}
	data.CapacityReservationSpecification = &ec2types.LaunchTemplateCapacityReservationSpecificationRequest{
		CapacityReservationTarget: &ec2types.CapacityReservationTarget{CapacityReservationId: aws.String(s.Reservation)},
	}
	switch { // both are markets of their own
	case s.Block:
		data.InstanceMarketOptions = &ec2types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: ec2types.MarketTypeCapacityBlock}
	case s.Interrupts:
		data.InstanceMarketOptions = &ec2types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: ec2types.MarketTypeInterruptibleCapacityReservation}
	}
}

// tagged are the tags of what EC2 makes beside the machine when it starts one.
func (s Settings) tagged() []ec2types.LaunchTemplateTagSpecificationRequest {
	if len(s.Tags) == 0 {
		return nil
	}
	out := []ec2types.LaunchTemplateTagSpecificationRequest{{ResourceType: ec2types.ResourceTypeNetworkInterface, Tags: Tags(s.Tags)}}
	if s.Spot {
		out = append(out, ec2types.LaunchTemplateTagSpecificationRequest{ResourceType: ec2types.ResourceTypeSpotInstancesRequest, Tags: Tags(s.Tags)})
	}
	return out
}

// interfaces lists the network interfaces one by one where the class or the
// machine needs more than EC2's single default; nil otherwise.
func (s Settings) interfaces() []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest {
	list := s.Interfaces
	for card := range s.EFAs {
		if len(s.Interfaces) == 0 {
			list = append(list, nodeclass.Interface{Card: int32(card), Device: int32(min(card, 1))}) //nolint:gosec // a handful of cards
		}
	}
	if len(list) == 0 && s.PublicIP == nil && s.IPPrefixes == nil && s.Tracking == nil && !s.IPv6 {
		return nil
	}
	if len(list) == 0 {
		list = []nodeclass.Interface{{}}
	}
	out := make([]ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest, len(list))
	for i, n := range list {
		out[i] = ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{
			NetworkCardIndex: aws.Int32(n.Card), DeviceIndex: aws.Int32(n.Device), Groups: s.Groups, ConnectionTrackingSpecification: tracking(s.Tracking),
		}
		switch {
		case n.EFAOnly:
			out[i].InterfaceType = aws.String("efa-only")
		case s.EFAs > 0 && len(s.Interfaces) == 0:
			out[i].InterfaceType = aws.String("efa")
		default:
			out[i].InterfaceType = aws.String("interface")
		}
		if i == 0 {
			out[i].AssociatePublicIpAddress, out[i].Ipv4PrefixCount = s.PublicIP, s.IPPrefixes
			if s.IPv6 {
				out[i].PrimaryIpv6, out[i].Ipv6AddressCount = aws.Bool(true), aws.Int32(1)
			}
		}
	}
	return out
}

func tracking(t *nodeclass.Tracking) *ec2types.ConnectionTrackingSpecificationRequest {
	if t == nil {
		return nil
	}
	return &ec2types.ConnectionTrackingSpecificationRequest{TcpEstablishedTimeout: t.TCPEstablished, UdpStreamTimeout: t.UDPStream, UdpTimeout: t.UDP}
}

func disk(d nodeclass.Disk) ec2types.LaunchTemplateBlockDeviceMappingRequest {
	e := &ec2types.LaunchTemplateEbsBlockDeviceRequest{
		Encrypted: d.Encrypted, DeleteOnTermination: d.DeleteAtEnd, VolumeType: ec2types.VolumeType(d.Type), VolumeInitializationRate: d.InitRate,
	}
	if d.SizeGiB > 0 {
		e.VolumeSize = aws.Int32(int32(d.SizeGiB)) //nolint:gosec // the API allows 64 TiB
	}
	if d.IOPS != nil {
		e.Iops = aws.Int32(int32(*d.IOPS)) //nolint:gosec // EC2 allows a few hundred thousand
	}
	if d.Throughput != nil {
		e.Throughput = aws.Int32(int32(*d.Throughput)) //nolint:gosec // EC2 allows a few thousand
	}
	if d.Snapshot != "" {
		e.SnapshotId = aws.String(d.Snapshot)
	}
	if d.KMSKey != "" {
		e.KmsKeyId = aws.String(d.KMSKey)
	}
	return ec2types.LaunchTemplateBlockDeviceMappingRequest{DeviceName: aws.String(d.Device), Ebs: e}
}

// Tags writes tags as EC2 wants them, in order of their keys.
func Tags(m map[string]string) []ec2types.Tag {
	out := make([]ec2types.Tag, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, ec2types.Tag{Key: aws.String(k), Value: aws.String(m[k])})
	}
	return out
}
