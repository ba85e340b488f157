package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CapacityBuffer keeps room for pods that have not come yet. The room is held by virtual pods, which are planned for
// like any other and are never created.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=capacitybuffers,scope=Namespaced,categories=autoscaling,shortName=cb
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Strategy",type="string",JSONPath=".spec.provisioningStrategy",description="How the room is kept"
// +kubebuilder:printcolumn:name="PodTemplate",type="string",JSONPath=".status.podTemplateRef.name",description="The PodTemplate in use"
// +kubebuilder:printcolumn:name="Replicas",type="integer",JSONPath=".status.replicas",description="How many pods there is to be room for"
// +kubebuilder:printcolumn:name="ConditionsType",type="string",JSONPath=".status.conditions[*].type",description="The types of the conditions"
// +kubebuilder:printcolumn:name="ConditionsStatus",type="string",JSONPath=".status.conditions[*].status",description="How each condition stands"
// +kubebuilder:printcolumn:name="ConditionsReason",type="string",JSONPath=".status.conditions[*].reason",description="Why"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
type CapacityBuffer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec   CapacityBufferSpec   `json:"spec"`
	Status CapacityBufferStatus `json:"status,omitempty"`
}

// CapacityBufferSpec is what the user asks for.
//
// +kubebuilder:validation:XValidation:rule="!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)",message="If podTemplateRef is set, replicas or limits must also be set"
// +kubebuilder:validation:XValidation:rule="!(has(self.podTemplateRef) && has(self.scalableRef))",message="You must define either PodTemplateRef or ScalableRef, but not both"
type CapacityBufferSpec struct {
	// ProvisioningStrategy is how the room is kept: by nodes that are there and have it free.
	// +kubebuilder:default:="buffer.x-k8s.io/active-capacity"
	// +optional
	ProvisioningStrategy *string `json:"provisioningStrategy,omitempty"`
	// PodTemplateRef names the PodTemplate, of the same namespace, that says what one of the pods is like.
	// +optional
	PodTemplateRef *LocalObjectRef `json:"podTemplateRef,omitempty"`
	// ScalableRef names the workload, of the same namespace, whose pods there is to be room for: a Deployment, a
	// StatefulSet or a ReplicaSet.
	// +optional
	ScalableRef *ScalableRef `json:"scalableRef,omitempty"`
	// Replicas is how many pods there is to be room for. Where a percentage is given as well, the larger counts.
	// +kubebuilder:validation:Minimum:=0
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// Percentage of the workload's replicas that there is to be room for, rounded up.
	// +kubebuilder:validation:Minimum:=0
	// +optional
	Percentage *int32 `json:"percentage,omitempty"`
	// Limits bound what the pods request together. Without replicas and percentage, as many pods as fit in them.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`
}

// LocalObjectRef names an object of the same namespace.
type LocalObjectRef struct {
	// +kubebuilder:validation:MinLength:=1
	Name string `json:"name"`
}

// ScalableRef names a workload of the same namespace.
type ScalableRef struct {
	// APIGroup of the workload; empty means apps.
	// +optional
	APIGroup string `json:"apiGroup,omitempty"`
	// +kubebuilder:validation:MinLength:=1
	Kind string `json:"kind"`
	// +kubebuilder:validation:MinLength:=1
	Name string `json:"name"`
}

// CapacityBufferStatus is what is.
type CapacityBufferStatus struct {
	// PodTemplateRef names the PodTemplate in use.
	// +optional
	PodTemplateRef *LocalObjectRef `json:"podTemplateRef,omitempty"`
	// Replicas is how many pods there is to be room for.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// PodTemplateGeneration is the generation of the PodTemplate in use.
	// +optional
	PodTemplateGeneration *int64 `json:"podTemplateGeneration,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ProvisioningStrategy is how the room is kept.
	// +optional
	ProvisioningStrategy *string `json:"provisioningStrategy,omitempty"`
}

// The conditions of a buffer, and why they stand as they do.
const (
	ConditionReadyForProvisioning = "ReadyForProvisioning" // it is known what room there is to be
	ConditionProvisioning         = "Provisioning"         // the room is there

	ReasonResolved             = "Resolved"
	ReasonPodTemplateNotFound  = "PodTemplateNotFound"
	ReasonScalableRefNotFound  = "ScalableRefNotFound"
	ReasonResolutionFailed     = "ResolutionFailed"
	ReasonFitsExistingCapacity = "FitsExistingCapacity"
	ReasonRequiresNewCapacity  = "RequiresNewCapacity"
	ReasonBufferEmpty          = "BufferEmpty"
	ReasonNotReady             = "NotReadyForProvisioning"
)

// CapacityBufferList is a list of buffers.
// +kubebuilder:object:root=true
type CapacityBufferList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CapacityBuffer `json:"items"`
}
