package v1alpha5

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Provisioner says what nodes may be bought for pending pods, how many, and when they may be given back.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=provisioners,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
type Provisioner struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec ProvisionerSpec `json:"spec"`
	// +kubebuilder:default:={}
	// +optional
	Status ProvisionerStatus `json:"status,omitempty"`
}

// ProvisionerSpec is what the user asks for.
//
// +kubebuilder:validation:XValidation:rule="!has(self.taints) || self.taints.all(t, self.taints.exists_one(u, t.key == u.key && t.effect == u.effect))",message="a key and effect stands once",fieldPath=".taints"
// +kubebuilder:validation:XValidation:rule="!has(self.startupTaints) || self.startupTaints.all(t, self.startupTaints.exists_one(u, t.key == u.key && t.effect == u.effect))",message="a key and effect stands once",fieldPath=".startupTaints"
// +kubebuilder:validation:XValidation:rule="!has(self.taints) || !has(self.startupTaints) || self.taints.all(t, !self.startupTaints.exists(u, t.key == u.key && t.effect == u.effect))",message="a key and effect stands once, in taints or in startupTaints",fieldPath=".startupTaints"
// +kubebuilder:validation:XValidation:rule="!(has(self.provider) && has(self.providerRef))",message="set provider or providerRef, not both",fieldPath=".provider"
// +kubebuilder:validation:XValidation:rule="has(self.provider) || has(self.providerRef)",message="set providerRef, the name of an AWSNodeTemplate, or an inline provider",fieldPath=".providerRef"
// +kubebuilder:validation:XValidation:rule="!(has(self.ttlSecondsAfterEmpty) && has(self.consolidation) && has(self.consolidation.enabled) && self.consolidation.enabled)",message="consolidation gives empty nodes back by itself: remove ttlSecondsAfterEmpty or switch consolidation off",fieldPath=".ttlSecondsAfterEmpty"
type ProvisionerSpec struct {
	// Annotations of the node.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// Labels of the node.
	// +kubebuilder:validation:MaxProperties:=100
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Taints of the node. Pods must tolerate them.
	// +kubebuilder:validation:MaxItems:=100
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`
	// StartupTaints are on the node when it joins and are taken off by something else; pods need not tolerate them.
	// +kubebuilder:validation:MaxItems:=100
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`
	// Requirements narrow what the node may be.
	// +kubebuilder:validation:MaxItems:=100
	// +optional
	Requirements []Requirement `json:"requirements,omitempty"`
	// KubeletConfiguration is what the node's kubelet is started with.
	// +optional
	KubeletConfiguration *KubeletConfiguration `json:"kubeletConfiguration,omitempty"`
	// Provider is the settings of the cloud, written here. Its fields are those of an AWSNodeTemplate that has no
	// userData and no amiSelector.
	// +kubebuilder:validation:Type:=object
	// +optional
	Provider *runtime.RawExtension `json:"provider,omitempty"`
	// ProviderRef names the object with the settings of the cloud.
	// +optional
	ProviderRef *ProviderRef `json:"providerRef,omitempty"`
	// TTLSecondsAfterEmpty is how long a node without pods stays. Unset: for ever.
	// +kubebuilder:validation:Minimum:=0
	// +optional
	TTLSecondsAfterEmpty *int64 `json:"ttlSecondsAfterEmpty,omitempty"`
	// TTLSecondsUntilExpired is how old a node may grow. Unset: for ever.
	// +kubebuilder:validation:Minimum:=0
	// +optional
	TTLSecondsUntilExpired *int64 `json:"ttlSecondsUntilExpired,omitempty"`
	// Limits bounds what all nodes of the Provisioner together may have.
	// +optional
	Limits *Limits `json:"limits,omitempty"`
	// Weight orders Provisioners: the heaviest that can host a pod is used.
	// +kubebuilder:validation:Minimum:=1
	// +kubebuilder:validation:Maximum:=100
	// +optional
	Weight *int32 `json:"weight,omitempty"`
	// Consolidation gives nodes back or replaces them when that is cheaper.
	// +optional
	Consolidation *Consolidation `json:"consolidation,omitempty"`
}

// Requirement says what values a label of the node may have.
//
// +kubebuilder:validation:XValidation:rule="self.operator != 'In' || (has(self.values) && size(self.values) > 0)",message="operator In needs at least one value",fieldPath=".values"
// +kubebuilder:validation:XValidation:rule="!(self.operator in ['Gt', 'Lt']) || (has(self.values) && size(self.values) == 1 && self.values[0].matches('^[+]?[0-9]{1,19}$') && int(self.values[0]) >= 0)",message="operators Gt and Lt need exactly one value, an integer that is not negative",fieldPath=".values"
// +kubebuilder:validation:XValidation:rule="self.key != 'karpenter.sh/capacity-type' || self.operator != 'In' || !has(self.values) || size(self.values) == 0 || ['spot', 'on-demand', 'reserved'].exists(v, v in self.values)",message="the capacity types are spot, on-demand and reserved",fieldPath=".values"
type Requirement struct {
	// Key is the label's name.
	// +kubebuilder:validation:MaxLength:=316
	// +kubebuilder:validation:Pattern:=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$`
	Key string `json:"key"`
	// Operator relates the label to the values.
	// +kubebuilder:validation:Enum:={In,NotIn,Exists,DoesNotExist,Gt,Lt}
	Operator corev1.NodeSelectorOperator `json:"operator"`
	// Values the operator speaks of.
	// +kubebuilder:validation:MaxItems:=2000
	// +optional
	Values []LabelValue `json:"values,omitempty"`
}

// LabelValue is the value of a label.
// +kubebuilder:validation:MaxLength:=63
// +kubebuilder:validation:Pattern:=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
type LabelValue = string

// ProviderRef names an AWSNodeTemplate.
type ProviderRef struct {
	// Kind of the object.
	// +optional
	Kind string `json:"kind,omitempty"`
	// Name of the object.
	// +kubebuilder:validation:MinLength:=1
	// +required
	Name string `json:"name"`
	// APIVersion of the object.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
}

// Limits bounds what all nodes of a Provisioner together may have.
type Limits struct {
	// Resources by name. `gpu` counts the GPUs of every maker, `nodes` counts nodes.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`
}

// Consolidation gives nodes back or replaces them when that is cheaper.
type Consolidation struct {
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
}

// KubeletConfiguration is what a node's kubelet is started with.
//
// +kubebuilder:validation:XValidation:rule="!has(self.evictionSoft) || self.evictionSoft.all(k, has(self.evictionSoftGracePeriod) && k in self.evictionSoftGracePeriod)",message="each signal of evictionSoft needs a grace period in evictionSoftGracePeriod",fieldPath=".evictionSoft"
// +kubebuilder:validation:XValidation:rule="!has(self.evictionSoftGracePeriod) || self.evictionSoftGracePeriod.all(k, has(self.evictionSoft) && k in self.evictionSoft)",message="each signal of evictionSoftGracePeriod needs a level in evictionSoft",fieldPath=".evictionSoftGracePeriod"
// +kubebuilder:validation:XValidation:rule="!has(self.imageGCHighThresholdPercent) || !has(self.imageGCLowThresholdPercent) || self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent",message="imageGCHighThresholdPercent must be above imageGCLowThresholdPercent",fieldPath=".imageGCHighThresholdPercent"
type KubeletConfiguration struct {
	// +optional
	ClusterDNS []string `json:"clusterDNS,omitempty"`
	// +optional
	ContainerRuntime *string `json:"containerRuntime,omitempty"`
	// +kubebuilder:validation:Minimum:=0
	// +optional
	MaxPods *int32 `json:"maxPods,omitempty"`
	// +kubebuilder:validation:Minimum:=0
	// +optional
	PodsPerCore *int32 `json:"podsPerCore,omitempty"`
	// SystemReserved is kept for the system: cpu, memory, ephemeral-storage and pid.
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage', 'pid'])",message="only cpu, memory, ephemeral-storage and pid can be reserved"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !string(self[k]).startsWith('-'))",message="what is reserved cannot be negative"
	// +optional
	SystemReserved corev1.ResourceList `json:"systemReserved,omitempty"`
	// KubeReserved is kept for the kubelet and its like: cpu, memory, ephemeral-storage and pid.
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage', 'pid'])",message="only cpu, memory, ephemeral-storage and pid can be reserved"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !string(self[k]).startsWith('-'))",message="what is reserved cannot be negative"
	// +optional
	KubeReserved corev1.ResourceList `json:"kubeReserved,omitempty"`
	// EvictionHard are the levels at which pods are evicted at once, by signal.
	// +kubebuilder:validation:MaxProperties:=10
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'])",message="the signals are memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree and pid.available"
	// +optional
	EvictionHard map[string]string `json:"evictionHard,omitempty"`
	// EvictionSoft are the levels at which pods are evicted after a grace period, by signal.
	// +kubebuilder:validation:MaxProperties:=10
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'])",message="the signals are memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree and pid.available"
	// +optional
	EvictionSoft map[string]string `json:"evictionSoft,omitempty"`
	// EvictionSoftGracePeriod is how long a soft level may be passed, by signal.
	// +kubebuilder:validation:MaxProperties:=10
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'])",message="the signals are memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree and pid.available"
	// +optional
	EvictionSoftGracePeriod map[string]metav1.Duration `json:"evictionSoftGracePeriod,omitempty"`
	// +optional
	EvictionMaxPodGracePeriod *int32 `json:"evictionMaxPodGracePeriod,omitempty"`
	// +kubebuilder:validation:Minimum:=0
	// +kubebuilder:validation:Maximum:=100
	// +optional
	ImageGCHighThresholdPercent *int32 `json:"imageGCHighThresholdPercent,omitempty"`
	// +kubebuilder:validation:Minimum:=0
	// +kubebuilder:validation:Maximum:=100
	// +optional
	ImageGCLowThresholdPercent *int32 `json:"imageGCLowThresholdPercent,omitempty"`
	// +optional
	CPUCFSQuota *bool `json:"cpuCFSQuota,omitempty"`
}

// ProvisionerStatus is what is.
type ProvisionerStatus struct {
	// LastScaleTime is when a node was last added.
	// +optional
	LastScaleTime *metav1.Time `json:"lastScaleTime,omitempty"`
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Resources is what the Provisioner's nodes have together.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`
}

// ProvisionerList is a list of Provisioners.
// +kubebuilder:object:root=true
type ProvisionerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Provisioner `json:"items"`
}
