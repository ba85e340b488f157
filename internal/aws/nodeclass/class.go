// Package nodeclass is what a class says its machines are to be, whichever kind of object said it: an EC2NodeClass, an AWSNodeTemplate, or the provider settings inside a Provisioner.
package nodeclass

import "github.com/tenon-sh/tenon/internal/cloud"

// Class is the settings of AWS that machines are made from.
type Class struct {
	Ref        cloud.ClassRef
	UID        string
	Generation int64 // rises with each edit
	Legacy     bool  // of the v1alpha5 era: names, tags and user data are as they were then

	Subnets []Selector // a subnet that meets one is used
	Groups  []Selector // every security group that meets one is used
	Images  []ImageSelector

	Family         string // how the image boots
	LaunchTemplate string // the user's own, used as it is; then image, groups and profile are not set
	Role           string // a profile is made for it
	Profile        string // or the profile itself
	UserData       string
	Tags           map[string]string
	Kubelet        []byte // JSON of kubelet settings; nil if there are none
	Disks          []Disk // empty: the family's own
	RAID0          bool   // the instance store becomes the ephemeral storage
	Monitoring     bool
	PublicIP       *bool
	IPPrefixes     *int32
	Interfaces     []Interface
	Metadata       Metadata
	Tracking       *Tracking
	Context        string
	Nested         string // nested virtualisation: enabled, disabled or empty
	PlacementGroup *Selector
	Reservations   []ReservationSelector

	Hash        string // changes when machines would be made otherwise
	HashVersion string
}

// HashAnnotation is the annotation of a claim that keeps its class' hash.
func (c Class) HashAnnotation() string {
	if c.Legacy {
		return "karpenter.k8s.aws/nodetemplate-hash"
	}
	return "karpenter.k8s.aws/ec2nodeclass-hash"
}

// ImageSelector finds images.
type ImageSelector struct {
	Selector
	Alias     string   // family and version: al2023@latest
	Owners    []string // empty: self and amazon
	Parameter string   // of SSM, whose value is an image's id
	Legacy    bool     // tags that are well-known labels narrow the machines
}

// Disk is one volume.
type Disk struct {
	Device      string
	Root        bool // pods' ephemeral storage is on it
	SizeGiB     int64
	Type        string
	IOPS        *int64
	Throughput  *int64
	Snapshot    string
	KMSKey      string
	InitRate    *int32
	Encrypted   *bool
	DeleteAtEnd *bool
}

// Interface is one network interface.
type Interface struct {
	Card, Device int32
	EFAOnly      bool
}

// Metadata is how the instance metadata service answers.
type Metadata struct {
	Endpoint, IPv6, Tokens string
	HopLimit               int64
}

// Tracking is how many seconds idle connections are remembered.
type Tracking struct {
	TCPEstablished, UDPStream, UDP *int32
}

// ReservationSelector finds capacity reservations.
type ReservationSelector struct {
	Selector
	Owner    string
	Matching string // open or targeted
}
