package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// EC2NodeClass is the settings of AWS that nodes are made from.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=ec2nodeclasses,scope=Cluster,categories=karpenter,shortName={ec2nc,ec2ncs}
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description="Whether nodes can be made from the class"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
// +kubebuilder:printcolumn:name="Role",type="string",JSONPath=".spec.role",priority=1,description="IAM role of the nodes"
type EC2NodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   EC2NodeClassSpec   `json:"spec,omitempty"`
	Status EC2NodeClassStatus `json:"status,omitempty"`
}

// EC2NodeClassSpec is what the user asks for.
//
// +kubebuilder:validation:XValidation:rule="has(self.role) != has(self.instanceProfile)",message="set role or instanceProfile, exactly one of them"
// +kubebuilder:validation:XValidation:rule="has(self.amiFamily) || self.amiSelectorTerms.exists(t, has(t.alias))",message="amiFamily is required when no term of amiSelectorTerms has an alias"
// +kubebuilder:validation:XValidation:rule="!has(self.amiFamily) || self.amiFamily == 'Custom' || self.amiSelectorTerms.all(t, !has(t.alias) || t.alias.split('@')[0] == self.amiFamily.lowerAscii())",message="amiFamily must be the alias' family or Custom"
type EC2NodeClassSpec struct {
	// SubnetSelectorTerms select subnets; a subnet that meets one term is used.
	// +kubebuilder:validation:MinItems:=1
	// +kubebuilder:validation:MaxItems:=30
	// +kubebuilder:validation:XValidation:rule="self.all(t, has(t.tags) || has(t.id))",message="a term needs tags or id"
	// +kubebuilder:validation:XValidation:rule="self.all(t, !(has(t.id) && has(t.tags)))",message="a term with id has nothing else"
	// +required
	SubnetSelectorTerms []SubnetSelectorTerm `json:"subnetSelectorTerms" digest:"-"`
	// SecurityGroupSelectorTerms select security groups; all that meet a term are used.
	// +kubebuilder:validation:MinItems:=1
	// +kubebuilder:validation:MaxItems:=30
	// +kubebuilder:validation:XValidation:rule="self.all(t, has(t.tags) || has(t.id) || has(t.name))",message="a term needs tags, id or name"
	// +kubebuilder:validation:XValidation:rule="self.all(t, !(has(t.id) && (has(t.tags) || has(t.name))))",message="a term with id has nothing else"
	// +kubebuilder:validation:XValidation:rule="self.all(t, !(has(t.name) && (has(t.tags) || has(t.id))))",message="a term with name has nothing else"
	// +required
	SecurityGroupSelectorTerms []SecurityGroupSelectorTerm `json:"securityGroupSelectorTerms" digest:"-"`
	// CapacityReservationSelectorTerms select reservations that nodes may use.
	// +kubebuilder:validation:MaxItems:=30
	// +kubebuilder:validation:XValidation:rule="self.all(t, has(t.tags) || has(t.id) || has(t.instanceMatchCriteria))",message="a term needs tags, id or instanceMatchCriteria"
	// +kubebuilder:validation:XValidation:rule="self.all(t, !(has(t.id) && (has(t.tags) || has(t.ownerID) || has(t.instanceMatchCriteria))))",message="a term with id has nothing else"
	// +optional
	CapacityReservationSelectorTerms []CapacityReservationSelectorTerm `json:"capacityReservationSelectorTerms,omitempty" digest:"-"`
	// PlacementGroupSelector names the placement group of the nodes.
	// +optional
	PlacementGroupSelector *PlacementGroupSelector `json:"placementGroupSelector,omitempty" digest:"-"`
	// AssociatePublicIPAddress gives nodes a public address or none, whatever the subnet says.
	// +optional
	AssociatePublicIPAddress *bool `json:"associatePublicIPAddress,omitempty"`
	// IPPrefixCount is how many IPv4 prefixes the first network interface gets.
	// +kubebuilder:validation:Minimum:=0
	// +optional
	IPPrefixCount *int32 `json:"ipPrefixCount,omitempty" digest:"-"`
	// AMISelectorTerms select images; the newest that fits the machine is used.
	// +kubebuilder:validation:MinItems:=1
	// +kubebuilder:validation:MaxItems:=30
	// +kubebuilder:validation:XValidation:rule="self.all(t, has(t.tags) || has(t.id) || has(t.name) || has(t.alias) || has(t.ssmParameter))",message="a term needs tags, id, name, alias or ssmParameter"
	// +kubebuilder:validation:XValidation:rule="self.all(t, !(has(t.id) && (has(t.alias) || has(t.tags) || has(t.name) || has(t.owner) || has(t.ssmParameter))))",message="a term with id has nothing else"
	// +kubebuilder:validation:XValidation:rule="self.all(t, !(has(t.alias) && (has(t.id) || has(t.tags) || has(t.name) || has(t.owner) || has(t.ssmParameter))))",message="a term with alias has nothing else"
	// +kubebuilder:validation:XValidation:rule="size(self) == 1 || !self.exists(t, has(t.alias))",message="a term with alias is the only term"
	// +required
	AMISelectorTerms []AMISelectorTerm `json:"amiSelectorTerms" digest:"-"`
	// AMIFamily says how the image boots. It follows from an alias.
	// +kubebuilder:validation:Enum:={AL2,AL2023,Bottlerocket,Custom,Windows2019,Windows2022,Windows2025}
	// +optional
	AMIFamily *string `json:"amiFamily,omitempty" digest:"-"`
	// UserData is merged with what the family's boot needs.
	// +optional
	UserData *string `json:"userData,omitempty"`
	// Role is the IAM role of the nodes; a profile for it is made.
	// +kubebuilder:validation:MinLength:=1
	// +optional
	Role string `json:"role,omitempty"`
	// InstanceProfile is the profile of the nodes.
	// +kubebuilder:validation:MinLength:=1
	// +optional
	InstanceProfile *string `json:"instanceProfile,omitempty"`
	// Tags of all that is made in EC2.
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '')",message="a tag needs a key"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'eks:eks-cluster-name')",message="the tag eks:eks-cluster-name is set by the controller"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('kubernetes.io/cluster'))",message="tags kubernetes.io/cluster… are set by the controller"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'karpenter.sh/nodepool')",message="the tag karpenter.sh/nodepool is set by the controller"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'karpenter.sh/nodeclaim')",message="the tag karpenter.sh/nodeclaim is set by the controller"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'karpenter.k8s.aws/ec2nodeclass')",message="the tag karpenter.k8s.aws/ec2nodeclass is set by the controller"
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// Kubelet is configuration of the nodes' kubelet.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Kubelet *runtime.RawExtension `json:"kubelet,omitempty"`
	// BlockDeviceMappings are the nodes' volumes.
	// +kubebuilder:validation:MaxItems:=50
	// +kubebuilder:validation:XValidation:rule="self.filter(m, has(m.rootVolume) && m.rootVolume).size() <= 1",message="only one mapping can be the root volume"
	// +optional
	BlockDeviceMappings []*BlockDeviceMapping `json:"blockDeviceMappings,omitempty"`
	// InstanceStorePolicy says what becomes of local disks.
	// +kubebuilder:validation:Enum:={RAID0}
	// +optional
	InstanceStorePolicy *InstanceStorePolicy `json:"instanceStorePolicy,omitempty"`
	// NetworkInterfaces of the nodes.
	// +kubebuilder:validation:MaxItems:=150
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.exists(i, i.networkCardIndex == 0 && i.deviceIndex == 0 && i.interfaceType == 'interface')",message="card 0, device 0 must be an interface"
	// +kubebuilder:validation:XValidation:rule="self.all(i, self.exists_one(j, i.networkCardIndex == j.networkCardIndex && i.deviceIndex == j.deviceIndex))",message="each pair of networkCardIndex and deviceIndex stands once"
	// +kubebuilder:validation:XValidation:rule="self.all(i, i.interfaceType != 'efa-only' || self.exists_one(j, j.interfaceType == 'efa-only' && i.networkCardIndex == j.networkCardIndex))",message="a network card has at most one efa-only interface"
	// +optional
	NetworkInterfaces []NetworkInterface `json:"networkInterfaces,omitempty"`
	// DetailedMonitoring of EC2.
	// +optional
	DetailedMonitoring *bool `json:"detailedMonitoring,omitempty"`
	// MetadataOptions of the nodes' instance metadata service.
	// +kubebuilder:default={"httpEndpoint":"enabled","httpProtocolIPv6":"disabled","httpPutResponseHopLimit":1,"httpTokens":"required"}
	// +optional
	MetadataOptions *MetadataOptions `json:"metadataOptions,omitempty"`
	// ConnectionTracking times of the network interfaces. Nitro machines only.
	// +kubebuilder:validation:XValidation:rule="has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)",message="set at least one timeout"
	// +optional
	ConnectionTracking *ConnectionTracking `json:"connectionTracking,omitempty"`
	// Context is handed to CreateFleet as it is.
	// +optional
	Context *string `json:"context,omitempty"`
	// CPUOptions of the machines.
	// +optional
	CPUOptions *CPUOptions `json:"cpuOptions,omitempty"`
}

// SubnetSelectorTerm selects subnets by tags or by id.
type SubnetSelectorTerm struct {
	// Tags of the subnet; `*` stands for any value.
	// +kubebuilder:validation:MaxProperties:=20
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="tags need a key and a value, `*` for any"
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// ID of the subnet.
	// +kubebuilder:validation:Pattern:=`^subnet-[0-9a-z]+$`
	// +optional
	ID string `json:"id,omitempty"`
}

// SecurityGroupSelectorTerm selects security groups by tags, by id, or by name.
type SecurityGroupSelectorTerm struct {
	// Tags of the group; `*` stands for any value.
	// +kubebuilder:validation:MaxProperties:=20
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="tags need a key and a value, `*` for any"
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// ID of the group.
	// +kubebuilder:validation:Pattern:=`^sg-[0-9a-z]+$`
	// +optional
	ID string `json:"id,omitempty"`
	// Name of the group.
	// +optional
	Name string `json:"name,omitempty"`
}

// CapacityReservationSelectorTerm selects reservations.
type CapacityReservationSelectorTerm struct {
	// Tags of the reservation; `*` stands for any value.
	// +kubebuilder:validation:MaxProperties:=20
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="tags need a key and a value, `*` for any"
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// ID of the reservation.
	// +kubebuilder:validation:Pattern:=`^cr-[0-9a-z]+$`
	// +optional
	ID string `json:"id,omitempty"`
	// OwnerID is the account that owns the reservation.
	// +kubebuilder:validation:Pattern:=`^[0-9]{12}$`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// InstanceMatchCriteria of the reservation.
	// +kubebuilder:validation:Enum:={open,targeted}
	// +optional
	InstanceMatchCriteria string `json:"instanceMatchCriteria,omitempty"`
}

// PlacementGroupSelector names a placement group.
//
// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.id)",message="set name or id, exactly one of them"
type PlacementGroupSelector struct {
	// Name of the group.
	// +kubebuilder:validation:MinLength:=1
	// +optional
	Name string `json:"name,omitempty"`
	// ID of the group.
	// +kubebuilder:validation:Pattern:=`^pg-[0-9a-z]+$`
	// +optional
	ID string `json:"id,omitempty"`
}

// AMISelectorTerm selects images.
type AMISelectorTerm struct {
	// Alias is a family and a version: al2023@latest.
	// +kubebuilder:validation:MaxLength:=30
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9]+@.+$')",message="write an alias as family@version, al2023@latest"
	// +kubebuilder:validation:XValidation:rule="self.split('@')[0] in ['al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', 'windows2025']",message="the family of an alias is al2, al2023, bottlerocket, windows2019, windows2022 or windows2025"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('windows') || self.endsWith('@latest')",message="windows images have only the version latest"
	// +optional
	Alias string `json:"alias,omitempty"`
	// Tags of the image; `*` stands for any value.
	// +kubebuilder:validation:MaxProperties:=20
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="tags need a key and a value, `*` for any"
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// ID of the image.
	// +kubebuilder:validation:Pattern:=`^ami-[0-9a-z]+$`
	// +optional
	ID string `json:"id,omitempty"`
	// Name of the image.
	// +optional
	Name string `json:"name,omitempty"`
	// Owner of the image: an account's number or alias, or self.
	// +optional
	Owner string `json:"owner,omitempty"`
	// SSMParameter is the name or ARN of a parameter that holds the image's id.
	// +optional
	SSMParameter string `json:"ssmParameter,omitempty"`
}

// BlockDeviceMapping is one volume of a node.
type BlockDeviceMapping struct {
	// DeviceName under which the image sees the volume.
	// +optional
	DeviceName *string `json:"deviceName,omitempty"`
	// EBS settings of the volume.
	// +kubebuilder:validation:XValidation:rule="has(self.snapshotID) || has(self.volumeSize)",message="set snapshotID or volumeSize"
	// +kubebuilder:validation:XValidation:rule="!has(self.volumeInitializationRate) || has(self.snapshotID)",message="volumeInitializationRate needs snapshotID"
	// +optional
	EBS *BlockDevice `json:"ebs,omitempty"`
	// RootVolume marks the volume that pods' ephemeral storage is on.
	// +optional
	RootVolume bool `json:"rootVolume,omitempty"`
}

// BlockDevice is settings of an EBS volume.
type BlockDevice struct {
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
	// +optional
	IOPS *int64 `json:"iops,omitempty"`
	// +optional
	KMSKeyID *string `json:"kmsKeyID,omitempty"`
	// +optional
	SnapshotID *string `json:"snapshotID,omitempty"`
	// Throughput in MiB a second.
	// +optional
	Throughput *int64 `json:"throughput,omitempty"`
	// VolumeInitializationRate in MiB a second at which a snapshot is copied.
	// +kubebuilder:validation:Minimum:=100
	// +kubebuilder:validation:Maximum:=300
	// +optional
	VolumeInitializationRate *int32 `json:"volumeInitializationRate,omitempty"`
	// VolumeSize in Gi, G, Ti or T.
	// +kubebuilder:validation:Pattern:=`^(([1-9][0-9]{0,3}|[1-4][0-9]{4}|5[0-8][0-9]{3}|59000)Gi|([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-3][0-9]{3}|64000)G|([1-9]|[1-4][0-9]|5[0-8])Ti|([1-9]|[1-5][0-9]|6[0-4])T)$`
	// +kubebuilder:validation:XIntOrString
	// +optional
	VolumeSize *resource.Quantity `json:"volumeSize,omitempty"`
	// +kubebuilder:validation:Enum:={standard,io1,io2,gp2,sc1,st1,gp3}
	// +optional
	VolumeType *string `json:"volumeType,omitempty"`
}

// InstanceStorePolicy says what becomes of local disks.
type InstanceStorePolicy string

// InstanceStoreRAID0 joins the local disks and puts pods' ephemeral storage on them.
const InstanceStoreRAID0 InstanceStorePolicy = "RAID0"

// NetworkInterface is one network interface of a node.
type NetworkInterface struct {
	// +kubebuilder:validation:Minimum:=0
	NetworkCardIndex int32 `json:"networkCardIndex"`
	// +kubebuilder:validation:Minimum:=0
	DeviceIndex int32 `json:"deviceIndex"`
	// +kubebuilder:validation:Enum:={interface,efa-only}
	InterfaceType InterfaceType `json:"interfaceType"`
}

// InterfaceType is what a network interface does.
type InterfaceType string

// The types of network interface.
const (
	InterfacePlain   InterfaceType = "interface"
	InterfaceEFAOnly InterfaceType = "efa-only"
)

// MetadataOptions of the instance metadata service.
type MetadataOptions struct {
	// +kubebuilder:default=enabled
	// +kubebuilder:validation:Enum:={enabled,disabled}
	// +optional
	HTTPEndpoint *string `json:"httpEndpoint,omitempty"`
	// +kubebuilder:default=disabled
	// +kubebuilder:validation:Enum:={enabled,disabled}
	// +optional
	HTTPProtocolIPv6 *string `json:"httpProtocolIPv6,omitempty"`
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum:=1
	// +kubebuilder:validation:Maximum:=64
	// +optional
	HTTPPutResponseHopLimit *int64 `json:"httpPutResponseHopLimit,omitempty"`
	// +kubebuilder:default=required
	// +kubebuilder:validation:Enum:={required,optional}
	// +optional
	HTTPTokens *string `json:"httpTokens,omitempty"`
}

// ConnectionTracking is how many seconds idle connections are remembered.
type ConnectionTracking struct {
	// +kubebuilder:validation:Minimum:=60
	// +kubebuilder:validation:Maximum:=432000
	// +optional
	TCPEstablishedTimeout *int32 `json:"tcpEstablishedTimeout,omitempty"`
	// +kubebuilder:validation:Minimum:=60
	// +kubebuilder:validation:Maximum:=180
	// +optional
	UDPStreamTimeout *int32 `json:"udpStreamTimeout,omitempty"`
	// +kubebuilder:validation:Minimum:=30
	// +kubebuilder:validation:Maximum:=60
	// +optional
	UDPTimeout *int32 `json:"udpTimeout,omitempty"`
}

// CPUOptions of the machines.
type CPUOptions struct {
	// +kubebuilder:validation:Enum:={enabled,disabled}
	// +optional
	NestedVirtualization *string `json:"nestedVirtualization,omitempty"`
}

// EC2NodeClassList is a list of classes.
// +kubebuilder:object:root=true
type EC2NodeClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []EC2NodeClass `json:"items"`
}
