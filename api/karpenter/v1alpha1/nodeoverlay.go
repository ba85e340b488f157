package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/api/condition"
)

// NodeOverlay corrects what is known of the instance types that meet its requirements.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodeoverlays,scope=Cluster,categories=karpenter,shortName=overlays
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description="Whether the overlay is applied"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
// +kubebuilder:printcolumn:name="Weight",type="integer",JSONPath=".spec.weight",priority=1,description="Heavier overlays win"
type NodeOverlay struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec   NodeOverlaySpec   `json:"spec"`
	Status NodeOverlayStatus `json:"status,omitempty"`
}

// NodeOverlaySpec is what the user asks for.
//
// +kubebuilder:validation:XValidation:rule="!has(self.price) || !has(self.priceAdjustment)",message="set price or priceAdjustment, not both"
type NodeOverlaySpec struct {
	// Requirements select instance types, offerings and pools.
	// +kubebuilder:validation:MaxItems:=100
	// +listType=atomic
	// +required
	Requirements []Requirement `json:"requirements"`
	// PriceAdjustment is added to the price: an amount, or a share such as -10%.
	// +kubebuilder:validation:Pattern:=`^([+-][0-9]+(\.[0-9]+)?|\+[0-9]+(\.[0-9]+)?%|-(100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)%)$`
	// +optional
	PriceAdjustment *string `json:"priceAdjustment,omitempty"`
	// Price takes the place of the price.
	// +kubebuilder:validation:Pattern:=`^[0-9]+(\.[0-9]+)?$`
	// +optional
	Price *string `json:"price,omitempty"`
	// Capacity is what the types have beside what the cloud says: extended resources only.
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k in ['cpu', 'memory', 'ephemeral-storage', 'pods']))",message="capacity holds extended resources only, not cpu, memory, ephemeral-storage or pods"
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Weight orders overlays: the heavier wins.
	// +kubebuilder:validation:Minimum:=1
	// +kubebuilder:validation:Maximum:=10000
	// +optional
	Weight *int32 `json:"weight,omitempty"`
}

// Requirement says what values a label may have.
//
// +kubebuilder:validation:XValidation:rule="!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)",message="operators In and NotIn need at least one value"
// +kubebuilder:validation:XValidation:rule="!(self.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || (has(self.values) && size(self.values) == 1 && int(self.values[0]) >= 0)",message="operators Gt, Lt, Gte and Lte need exactly one value, an integer that is not negative"
type Requirement struct {
	// Key is the label's name.
	// +kubebuilder:validation:MaxLength:=316
	// +kubebuilder:validation:Pattern:=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	Key string `json:"key"`
	// Operator relates the label to the values.
	// +kubebuilder:validation:Enum:={In,NotIn,Exists,DoesNotExist,Gt,Lt,Gte,Lte}
	Operator corev1.NodeSelectorOperator `json:"operator"`
	// Values the operator speaks of.
	// +listType=atomic
	// +optional
	Values []string `json:"values,omitempty"`
}

// NodeOverlayStatus is what is.
type NodeOverlayStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// The condition that makes an overlay Ready, and why it is False.
const (
	ConditionValidationSucceeded = "ValidationSucceeded"

	ReasonRuntimeValidation = "RuntimeValidation"
	ReasonConflict          = "Conflict" // another overlay of the same weight says something else of the same type
)

// Conditions is the overlay's conditions, with Ready kept in step.
func (o *NodeOverlay) Conditions() condition.View {
	return condition.Of(o, &o.Status.Conditions, ConditionValidationSucceeded)
}

// NodeOverlayList is a list of overlays.
// +kubebuilder:object:root=true
type NodeOverlayList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []NodeOverlay `json:"items"`
}
