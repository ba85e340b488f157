package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AWSNodeTemplate is the settings of AWS that nodes are made from.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=awsnodetemplates,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
type AWSNodeTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec AWSNodeTemplateSpec `json:"spec"`
	// +optional
	Status AWSNodeTemplateStatus `json:"status,omitempty"`
}

// AWSNodeTemplateSpec is what the user asks for.
//
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.userData)",message="userData belongs to a launch template that the controller makes: remove it or launchTemplate",fieldPath=".userData"
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.amiSelector)",message="a launch template names its own image: remove amiSelector or launchTemplate",fieldPath=".amiSelector"
// +kubebuilder:validation:XValidation:rule="!has(self.amiFamily) || self.amiFamily != 'Custom' || has(self.amiSelector)",message="amiFamily Custom needs amiSelector, nothing else says which image",fieldPath=".amiSelector"
type AWSNodeTemplateSpec struct {
	Provider `json:",inline"`

	// UserData is merged with what the family's boot needs.
	// +optional
	UserData *NamedSetting `json:"userData,omitempty"`
	// AMISelector selects images by tags or ids; the newest that fits the machine is used.
	// +kubebuilder:validation:MinProperties:=1
	// +kubebuilder:validation:MaxProperties:=50
	// +kubebuilder:validation:XValidation:rule="size(self) > 0",message="an empty selector selects nothing: write tags as key: value, or aws-ids"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="a selector needs a key and a value, `*` for any value"
	// +kubebuilder:validation:XValidation:rule="['aws-ids', 'aws::ids'].all(k, !(k in self) || self[k].split(',').all(id, id.trim().matches('^ami-[0-9a-z]+$')))",message="ids look like ami-0123456789abcdef0, separated by commas"
	// +optional
	AMISelector map[string]string `json:"amiSelector,omitempty"`
	// DetailedMonitoring of EC2.
	// +optional
	DetailedMonitoring *bool `json:"detailedMonitoring,omitempty"`
}

// Provider is the settings that a Provisioner may also hold itself, under provider.
//
// +kubebuilder:validation:XValidation:rule="has(self.securityGroupSelector) || has(self.launchTemplate)",message="securityGroupSelector is required: it finds the nodes' security groups by their tags",fieldPath=".securityGroupSelector"
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.securityGroupSelector)",message="a launch template names its own security groups: remove securityGroupSelector or launchTemplate",fieldPath=".securityGroupSelector"
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.metadataOptions)",message="a launch template has its own metadata options: remove metadataOptions or launchTemplate",fieldPath=".metadataOptions"
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.amiFamily)",message="a launch template names its own image: remove amiFamily or launchTemplate",fieldPath=".amiFamily"
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.instanceProfile)",message="a launch template names its own instance profile: remove instanceProfile or launchTemplate",fieldPath=".instanceProfile"
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.blockDeviceMappings)",message="a launch template has its own volumes: remove blockDeviceMappings or launchTemplate",fieldPath=".blockDeviceMappings"
type Provider struct {
	// APIVersion may be left out.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind may be left out.
	// +optional
	Kind string `json:"kind,omitempty"`
	// AMIFamily says how the image boots. Default AL2.
	// +kubebuilder:validation:Enum:={AL2,Bottlerocket,Ubuntu,Custom}
	// +optional
	AMIFamily *string `json:"amiFamily,omitempty"`
	// Context is handed to CreateFleet as it is.
	// +optional
	Context *NamedSetting `json:"context,omitempty"`
	// InstanceProfile of the nodes. Default: the global setting.
	// +optional
	InstanceProfile *NamedSetting `json:"instanceProfile,omitempty"`
	// SubnetSelector finds subnets by tags (`*` stands for any value) or by aws-ids.
	// +kubebuilder:validation:MinProperties:=1
	// +kubebuilder:validation:MaxProperties:=50
	// +kubebuilder:validation:XValidation:rule="size(self) > 0",message="an empty selector selects nothing: write tags as key: value, or aws-ids"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="a selector needs a key and a value, `*` for any value"
	// +kubebuilder:validation:XValidation:rule="['aws-ids', 'aws::ids'].all(k, !(k in self) || self[k].split(',').all(id, id.trim().matches('^subnet-[0-9a-z]+$')))",message="ids look like subnet-0123456789abcdef0, separated by commas"
	// +required
	SubnetSelector map[string]string `json:"subnetSelector"`
	// SecurityGroupSelector finds security groups by tags (`*` stands for any value) or by aws-ids.
	// +kubebuilder:validation:MinProperties:=1
	// +kubebuilder:validation:MaxProperties:=50
	// +kubebuilder:validation:XValidation:rule="size(self) > 0",message="an empty selector selects nothing: write tags as key: value, or aws-ids"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="a selector needs a key and a value, `*` for any value"
	// +kubebuilder:validation:XValidation:rule="['aws-ids', 'aws::ids'].all(k, !(k in self) || self[k].split(',').all(id, id.trim().matches('^sg-[0-9a-z]+$')))",message="ids look like sg-0123456789abcdef0, separated by commas"
	// +optional
	SecurityGroupSelector map[string]string `json:"securityGroupSelector,omitempty"`
	// Tags of all that is made in EC2. To have none leave them out: a map without entries is what a pasted `{...}` becomes.
	// +kubebuilder:validation:MinProperties:=1
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// LaunchTemplate is the name of a launch template of the user's own, used as it is.
	// +optional
	LaunchTemplate *NamedSetting `json:"launchTemplate,omitempty"`
	// MetadataOptions of the nodes' instance metadata service.
	// +optional
	MetadataOptions *MetadataOptions `json:"metadataOptions,omitempty"`
	// BlockDeviceMappings are the nodes' volumes.
	// +kubebuilder:validation:MaxItems:=50
	// +optional
	BlockDeviceMappings []*BlockDeviceMapping `json:"blockDeviceMappings,omitempty"`
}

// NamedSetting is a setting written out. Three dots stand for one that is not.
// +kubebuilder:validation:Pattern:=`[^.]|^$`
type NamedSetting = string

// MetadataOptions of the instance metadata service.
// +kubebuilder:validation:MinProperties:=1
type MetadataOptions struct {
	// +kubebuilder:validation:Enum:={enabled,disabled}
	// +optional
	HTTPEndpoint *string `json:"httpEndpoint,omitempty"`
	// +kubebuilder:validation:Enum:={enabled,disabled}
	// +optional
	HTTPProtocolIPv6 *string `json:"httpProtocolIPv6,omitempty"`
	// +kubebuilder:validation:Minimum:=1
	// +kubebuilder:validation:Maximum:=64
	// +optional
	HTTPPutResponseHopLimit *int64 `json:"httpPutResponseHopLimit,omitempty"`
	// +kubebuilder:validation:Enum:={required,optional}
	// +optional
	HTTPTokens *string `json:"httpTokens,omitempty"`
}

// BlockDeviceMapping is one volume of a node.
type BlockDeviceMapping struct {
	// DeviceName under which the image sees the volume.
	// +kubebuilder:validation:MinLength:=1
	// +required
	DeviceName *string `json:"deviceName,omitempty"`
	// EBS settings of the volume.
	// +kubebuilder:validation:XValidation:rule="has(self.snapshotID) || has(self.volumeSize)",message="set snapshotID or volumeSize"
	// +required
	EBS *BlockDevice `json:"ebs,omitempty"`
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
	// VolumeSize from 1G to 64T.
	// +kubebuilder:validation:Pattern:=`^([1-9][0-9]{0,4}(\.[0-9]+)?(G|Gi)|[1-9][0-9]?(\.[0-9]+)?(T|Ti)|[1-9][0-9]{3,7}(M|Mi)|[1-9][0-9]{6,10}(k|Ki)|[1-9][0-9]{9,13})$`
	// +kubebuilder:validation:XIntOrString
	// +optional
	VolumeSize *resource.Quantity `json:"volumeSize,omitempty"`
	// +kubebuilder:validation:Enum:={standard,io1,io2,gp2,sc1,st1,gp3}
	// +optional
	VolumeType *string `json:"volumeType,omitempty"`
}

// AWSNodeTemplateStatus is what the selectors found.
type AWSNodeTemplateStatus struct {
	// Subnets, those with the most free addresses first.
	// +optional
	Subnets []Subnet `json:"subnets,omitempty"`
	// +optional
	SecurityGroups []SecurityGroup `json:"securityGroups,omitempty"`
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Subnet is a subnet that nodes may be in.
type Subnet struct {
	// +optional
	ID string `json:"id,omitempty"`
	// +optional
	Zone string `json:"zone,omitempty"`
}

// SecurityGroup is a group that nodes get.
type SecurityGroup struct {
	// +optional
	ID string `json:"id,omitempty"`
}

// AWSNodeTemplateList is a list of templates.
// +kubebuilder:object:root=true
type AWSNodeTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []AWSNodeTemplate `json:"items"`
}
