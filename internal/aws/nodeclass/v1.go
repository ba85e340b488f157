package nodeclass

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// FromV1 reads an EC2NodeClass. caBundle is the cluster's, which is part of the hash because user data holds it.
func FromV1(o *awsv1.EC2NodeClass, caBundle string) Class {
	s := o.Spec
	c := Class{
		Ref: cloud.ClassRef{Group: awsv1.Group, Kind: "EC2NodeClass", Name: o.Name}, UID: string(o.UID), Generation: o.Generation,
		Family: o.Family(), Role: s.Role, Profile: value(s.InstanceProfile), UserData: value(s.UserData), Tags: s.Tags,
		RAID0:      s.InstanceStorePolicy != nil && *s.InstanceStorePolicy == awsv1.InstanceStoreRAID0,
		Monitoring: value(s.DetailedMonitoring), PublicIP: s.AssociatePublicIPAddress, IPPrefixes: s.IPPrefixCount,
		Context: value(s.Context), Hash: o.Hash(caBundle), HashVersion: awsv1.HashVersion,
		Metadata: metadataV1(s.MetadataOptions),
	}
	for _, t := range s.SubnetSelectorTerms {
		c.Subnets = append(c.Subnets, Selector{Tags: tags(t.Tags), IDs: one(t.ID)})
	}
	for _, t := range s.SecurityGroupSelectorTerms {
		c.Groups = append(c.Groups, Selector{Tags: tags(t.Tags), IDs: one(t.ID), Name: t.Name})
	}
	for _, t := range s.AMISelectorTerms {
		c.Images = append(c.Images, ImageSelector{
			Selector: Selector{Tags: tags(t.Tags), IDs: one(t.ID), Name: t.Name},
			Alias:    t.Alias, Owners: one(t.Owner), Parameter: t.SSMParameter,
		})
	}
	for _, t := range s.CapacityReservationSelectorTerms {
		c.Reservations = append(c.Reservations, ReservationSelector{
			Selector: Selector{Tags: tags(t.Tags), IDs: one(t.ID)}, Owner: t.OwnerID, Matching: t.InstanceMatchCriteria,
		})
	}
	if p := s.PlacementGroupSelector; p != nil {
		c.PlacementGroup = &Selector{IDs: one(p.ID), Name: p.Name}
	}
	if s.Kubelet != nil {
		c.Kubelet = s.Kubelet.Raw
	}
	for _, m := range s.BlockDeviceMappings {
		if m != nil { // no API server stores such
			c.Disks = append(c.Disks, diskV1(m))
		}
	}
	for _, n := range s.NetworkInterfaces {
		c.Interfaces = append(c.Interfaces, Interface{n.NetworkCardIndex, n.DeviceIndex, n.InterfaceType == awsv1.InterfaceEFAOnly})
	}
	if t := s.ConnectionTracking; t != nil {
		c.Tracking = &Tracking{t.TCPEstablishedTimeout, t.UDPStreamTimeout, t.UDPTimeout}
	}
	if s.CPUOptions != nil {
		c.Nested = value(s.CPUOptions.NestedVirtualization)
	}
	return c
}

func diskV1(m *awsv1.BlockDeviceMapping) Disk {
	d := Disk{Device: value(m.DeviceName), Root: m.RootVolume}
	if e := m.EBS; e != nil {
		d.SizeGiB, d.Type, d.IOPS, d.Throughput = gib(e.VolumeSize), value(e.VolumeType), e.IOPS, e.Throughput
		d.Snapshot, d.KMSKey, d.InitRate = value(e.SnapshotID), value(e.KMSKeyID), e.VolumeInitializationRate
		d.Encrypted, d.DeleteAtEnd = e.Encrypted, e.DeleteOnTermination
	}
	return d
}

// metadataV1 fills in what an object stored before the defaults existed leaves out.
func metadataV1(o *awsv1.MetadataOptions) Metadata {
	if o == nil {
		return Metadata{Endpoint: "disabled", IPv6: "disabled", Tokens: "required", HopLimit: 2}
	}
	return Metadata{
		Endpoint: cmp.Or(value(o.HTTPEndpoint), "enabled"), IPv6: cmp.Or(value(o.HTTPProtocolIPv6), "disabled"),
		Tokens: cmp.Or(value(o.HTTPTokens), "required"), HopLimit: cmp.Or(value(o.HTTPPutResponseHopLimit), 1),
	}
}

// gib rounds a size up to whole GiB, as EC2 wants it.
func gib(q *resource.Quantity) int64 {
	if q == nil {
		return 0
	}
	const unit = 1 << 30
	return (q.Value() + unit - 1) / unit
}

// tags turns a selector of tags into its form here; "*" stands for any value.
func tags(m map[string]string) []Tag {
	var out []Tag
	for k, v := range m {
		t := Tag{Key: k}
		if v != "*" {
			t.Values = []string{v}
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Tag) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

func one(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
