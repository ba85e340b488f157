package awsapi

import (
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// launchData is how a machine is to be launched, as CreateLaunchTemplate and RunInstances carry it.
type launchData struct {
	ImageId            string
	InstanceType       string
	KeyName            string
	UserData           string
	IamInstanceProfile struct{ Arn, Name string }
	SecurityGroupId    []string
	SecurityGroup      []string
	NetworkInterface   []struct {
		DeviceIndex                     *int
		NetworkCardIndex                *int
		InterfaceType                   string
		SubnetId                        string
		SecurityGroupId                 []string
		Description                     string
		AssociatePublicIpAddress        *bool
		DeleteOnTermination             *bool
		PrimaryIpv6                     *bool
		Ipv6AddressCount                *int
		Ipv4PrefixCount                 *int
		Ipv6PrefixCount                 *int
		ConnectionTrackingSpecification *struct {
			TcpEstablishedTimeout *int
			UdpStreamTimeout      *int
			UdpTimeout            *int
		}
	}
	BlockDeviceMapping []struct {
		DeviceName  string
		VirtualName string
		NoDevice    *string
		Ebs         *struct {
			DeleteOnTermination      *bool
			Encrypted                *bool
			Iops                     *int
			KmsKeyId                 string
			SnapshotId               string
			Throughput               *int
			VolumeInitializationRate *int
			VolumeSize               *int
			VolumeType               string
		}
	}
	MetadataOptions *struct {
		HttpEndpoint            string
		HttpProtocolIpv6        string
		HttpPutResponseHopLimit *int
		HttpTokens              string
		InstanceMetadataTags    string
	}
	Monitoring                        *struct{ Enabled *bool }
	EbsOptimized                      *bool
	DisableApiTermination             *bool
	InstanceInitiatedShutdownBehavior string
	CreditSpecification               struct{ CpuCredits string }
	MaintenanceOptions                struct{ AutoRecovery string }
	InstanceMarketOptions             struct {
		MarketType  string
		SpotOptions struct {
			MaxPrice                     string
			InstanceInterruptionBehavior string
			SpotInstanceType             string
		}
	}
	CapacityReservationSpecification struct {
		CapacityReservationPreference string
		CapacityReservationTarget     struct {
			CapacityReservationId               string
			CapacityReservationResourceGroupArn string
		}
	}
	Placement  placement
	CpuOptions *struct {
		CoreCount            *int
		ThreadsPerCore       *int
		NestedVirtualization string
		AmdSevSnp            string
	}
	EnclaveOptions        struct{ Enabled *bool }
	PrivateDnsNameOptions *struct {
		HostnameType                    string
		EnableResourceNameDnsARecord    *bool
		EnableResourceNameDnsAAAARecord *bool
	}
	TagSpecification []tagSpecification
}

// placement says where a machine may stand.
type placement struct {
	AvailabilityZone string
	GroupName        string
	GroupId          string
	PartitionNumber  int
	Tenancy          string
}

func (p placement) model() market.Placement {
	return market.Placement{Zone: p.AvailabilityZone, GroupName: p.GroupName, GroupID: p.GroupId, Partition: p.PartitionNumber, Tenancy: p.Tenancy}
}

// model turns the request into what the market launches from.
func (d launchData) model() market.TemplateData {
	out := market.TemplateData{
		Image: d.ImageId, Type: d.InstanceType, Key: d.KeyName, UserData: d.UserData,
		ProfileName: d.IamInstanceProfile.Name, ProfileARN: d.IamInstanceProfile.Arn,
		Groups: d.SecurityGroupId, GroupNames: d.SecurityGroup,
		EBSOptimized: d.EbsOptimized, Protected: d.DisableApiTermination, Shutdown: d.InstanceInitiatedShutdownBehavior,
		Credits: d.CreditSpecification.CpuCredits, AutoRecovery: d.MaintenanceOptions.AutoRecovery,
		Market: market.MarketOptions{
			Kind: d.InstanceMarketOptions.MarketType, MaxPrice: d.InstanceMarketOptions.SpotOptions.MaxPrice,
			Interruption: d.InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior, SpotType: d.InstanceMarketOptions.SpotOptions.SpotInstanceType,
		},
		Reservation: market.ReservationSpec{
			Preference: d.CapacityReservationSpecification.CapacityReservationPreference,
			ID:         d.CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId,
			GroupARN:   d.CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationResourceGroupArn,
		},
		Enclaves: d.EnclaveOptions.Enabled, Placement: d.Placement.model(), Tags: specsOf(d.TagSpecification),
	}
	if d.Monitoring != nil {
		out.Monitoring = d.Monitoring.Enabled
	}
	if o := d.MetadataOptions; o != nil {
		out.Metadata = &market.MetadataOptions{Endpoint: o.HttpEndpoint, IPv6: o.HttpProtocolIpv6, HopLimit: o.HttpPutResponseHopLimit, Tokens: o.HttpTokens, Tags: o.InstanceMetadataTags}
	}
	if o := d.CpuOptions; o != nil {
		out.CPU = &market.CPUOptions{Cores: o.CoreCount, ThreadsPerCore: o.ThreadsPerCore, Nested: o.NestedVirtualization, AMDSEVSNP: o.AmdSevSnp}
	}
	if o := d.PrivateDnsNameOptions; o != nil {
		out.DNS = &market.DNSOptions{HostnameType: o.HostnameType, ARecord: o.EnableResourceNameDnsARecord, AAAARecord: o.EnableResourceNameDnsAAAARecord}
	}
	for _, n := range d.NetworkInterface {
		spec := market.InterfaceSpec{
			Device: n.DeviceIndex, Card: n.NetworkCardIndex, Kind: n.InterfaceType, Subnet: n.SubnetId, Groups: n.SecurityGroupId, Description: n.Description,
			PublicIP: n.AssociatePublicIpAddress, Delete: n.DeleteOnTermination, PrimaryIPv6: n.PrimaryIpv6, IPv6Count: n.Ipv6AddressCount,
			PrefixCount: n.Ipv4PrefixCount, Prefix6Count: n.Ipv6PrefixCount,
		}
		if t := n.ConnectionTrackingSpecification; t != nil {
			spec.Tracking = &market.Tracking{TCP: t.TcpEstablishedTimeout, UDPStream: t.UdpStreamTimeout, UDP: t.UdpTimeout}
		}
		out.Interfaces = append(out.Interfaces, spec)
	}
	for _, b := range d.BlockDeviceMapping {
		dev := market.Device{Name: b.DeviceName, Virtual: b.VirtualName, Suppressed: b.NoDevice != nil}
		if e := b.Ebs; e != nil {
			dev.Delete, dev.Encrypted, dev.IOPS, dev.KMSKey, dev.Snapshot = e.DeleteOnTermination, e.Encrypted, e.Iops, e.KmsKeyId, e.SnapshotId
			dev.Throughput, dev.InitRate, dev.SizeGiB, dev.Kind = e.Throughput, e.VolumeInitializationRate, e.VolumeSize, e.VolumeType
		}
		out.Devices = append(out.Devices, dev)
	}
	return out
}

// dataNodes writes launch data as DescribeLaunchTemplateVersions does.
func dataNodes(d market.TemplateData) node {
	return el("launchTemplateData",
		txt("imageId", d.Image), txt("instanceType", d.Type), txt("keyName", d.Key), txt("userData", d.UserData),
		el("iamInstanceProfile", txt("arn", d.ProfileARN), txt("name", d.ProfileName)),
		texts("securityGroupIdSet", d.Groups), texts("securityGroupSet", d.GroupNames),
		interfaceNodes(d.Interfaces), deviceNodes(d.Devices), metadataNode(d.Metadata),
		el("monitoring", optFlag("enabled", d.Monitoring)), optFlag("ebsOptimized", d.EBSOptimized), optFlag("disableApiTermination", d.Protected),
		txt("instanceInitiatedShutdownBehavior", d.Shutdown), el("creditSpecification", txt("cpuCredits", d.Credits)),
		el("maintenanceOptions", txt("autoRecovery", d.AutoRecovery)),
		el("instanceMarketOptions", txt("marketType", d.Market.Kind), el("spotOptions", txt("maxPrice", d.Market.MaxPrice),
			txt("instanceInterruptionBehavior", d.Market.Interruption), txt("spotInstanceType", d.Market.SpotType))),
		reservationSpec(d.Reservation), placementNode(d.Placement), cpuNode(d.CPU), el("enclaveOptions", optFlag("enabled", d.Enclaves)), dnsNode(d.DNS),
		tagSpecNodes(d.Tags),
	)
}

func interfaceNodes(in []market.InterfaceSpec) node {
	if len(in) == 0 {
		return node{}
	}
	return list("networkInterfaceSet", in, func(n market.InterfaceSpec) []node {
		groups := node{name: "groupSet"}
		for _, g := range n.Groups {
			groups.kids = append(groups.kids, txt("groupId", g))
		}
		tracking := node{}
		if t := n.Tracking; t != nil {
			tracking = el("connectionTrackingSpecification", optNum("tcpEstablishedTimeout", t.TCP), optNum("udpStreamTimeout", t.UDPStream), optNum("udpTimeout", t.UDP))
		}
		return []node{
			optFlag("associatePublicIpAddress", n.PublicIP), optFlag("deleteOnTermination", n.Delete), txt("description", n.Description),
			optNum("deviceIndex", n.Device), groups, txt("interfaceType", n.Kind), optNum("ipv6AddressCount", n.IPv6Count), txt("subnetId", n.Subnet),
			optNum("networkCardIndex", n.Card), optNum("ipv4PrefixCount", n.PrefixCount), optNum("ipv6PrefixCount", n.Prefix6Count),
			optFlag("primaryIpv6", n.PrimaryIPv6), tracking,
		}
	})
}

func deviceNodes(in []market.Device) node {
	if len(in) == 0 {
		return node{}
	}
	return list("blockDeviceMappingSet", in, func(d market.Device) []node {
		return []node{
			txt("deviceName", d.Name), txt("virtualName", d.Virtual),
			el("ebs", optFlag("deleteOnTermination", d.Delete), optFlag("encrypted", d.Encrypted), optNum("iops", d.IOPS), txt("kmsKeyId", d.KMSKey),
				txt("snapshotId", d.Snapshot), optNum("throughput", d.Throughput), optNum("volumeInitializationRate", d.InitRate),
				optNum("volumeSize", d.SizeGiB), txt("volumeType", d.Kind)),
		}
	})
}

func metadataNode(o *market.MetadataOptions) node {
	if o == nil {
		return node{}
	}
	return el("metadataOptions", txt("state", "applied"), txt("httpEndpoint", o.Endpoint), txt("httpProtocolIpv6", o.IPv6),
		optNum("httpPutResponseHopLimit", o.HopLimit), txt("httpTokens", o.Tokens), txt("instanceMetadataTags", o.Tags))
}

func reservationSpec(r market.ReservationSpec) node {
	return el("capacityReservationSpecification", txt("capacityReservationPreference", r.Preference),
		el("capacityReservationTarget", txt("capacityReservationId", r.ID), txt("capacityReservationResourceGroupArn", r.GroupARN)))
}

func placementNode(p market.Placement) node {
	return el("placement", txt("availabilityZone", p.Zone), txt("groupName", p.GroupName), txt("groupId", p.GroupID),
		count("partitionNumber", p.Partition), txt("tenancy", p.Tenancy))
}

func cpuNode(o *market.CPUOptions) node {
	if o == nil {
		return node{}
	}
	return el("cpuOptions", optNum("coreCount", o.Cores), optNum("threadsPerCore", o.ThreadsPerCore),
		txt("nestedVirtualization", o.Nested), txt("amdSevSnp", o.AMDSEVSNP))
}

func dnsNode(o *market.DNSOptions) node {
	if o == nil {
		return node{}
	}
	return el("privateDnsNameOptions", txt("hostnameType", o.HostnameType), optFlag("enableResourceNameDnsARecord", o.ARecord),
		optFlag("enableResourceNameDnsAAAARecord", o.AAAARecord))
}

func tagSpecNodes(in []market.TagSpec) node {
	if len(in) == 0 {
		return node{}
	}
	return list("tagSpecificationSet", in, func(s market.TagSpec) []node {
		return []node{txt("resourceType", s.Kind), tagSet("tagSet", s.Tags)}
	})
}
