package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeClaim asks for one node and says how far it has come.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodeclaims,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".metadata.labels.node\\.kubernetes\\.io/instance-type",description="Type of the machine"
// +kubebuilder:printcolumn:name="Capacity",type="string",JSONPath=".metadata.labels.karpenter\\.sh/capacity-type",description="How the machine is paid for"
// +kubebuilder:printcolumn:name="Zone",type="string",JSONPath=".metadata.labels.topology\\.kubernetes\\.io/zone",description="Zone of the machine"
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.nodeName",description="Name of the node"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description="Whether the node can take pods"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
// +kubebuilder:printcolumn:name="ImageID",type="string",JSONPath=".status.imageID",priority=1,description="Image of the machine"
// +kubebuilder:printcolumn:name="ID",type="string",JSONPath=".status.providerID",priority=1,description="Provider ID of the machine"
// +kubebuilder:printcolumn:name="NodePool",type="string",JSONPath=".metadata.labels.karpenter\\.sh/nodepool",priority=1,description="Pool of the claim"
// +kubebuilder:printcolumn:name="NodeClass",type="string",JSONPath=".spec.nodeClassRef.name",priority=1,description="Class of the claim"
// +kubebuilder:printcolumn:name="Drifted",type="string",JSONPath=".status.conditions[?(@.type==\"Drifted\")].status",priority=1,description="Whether the machine is no longer what the pool asks for"
type NodeClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a claim's spec cannot be changed, make a new claim instead"
	// +required
	Spec   NodeClaimSpec   `json:"spec"`
	Status NodeClaimStatus `json:"status,omitempty"`
}

// NodeClaimSpec is what the node must be. It never changes.
type NodeClaimSpec struct {
	// Taints of the node. Pods must tolerate them.
	// +listType=atomic
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`
	// StartupTaints are on the node when it joins and are taken off by something else; pods need not tolerate them.
	// +listType=atomic
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`
	// Requirements narrow what the node may be.
	// +kubebuilder:validation:MaxItems:=100
	// +listType=atomic
	// +required
	Requirements []Requirement `json:"requirements"`
	// Resources is what the pods planned for the node request.
	// +optional
	Resources ResourceRequirements `json:"resources,omitzero"`
	// NodeClassRef names the class with the settings of the cloud.
	// +required
	NodeClassRef *NodeClassReference `json:"nodeClassRef"`
	// TerminationGracePeriod is how long the node may drain before what is left on it is killed. Unset: for ever.
	// +kubebuilder:validation:Pattern:=`^([0-9]+(s|m|h))+$`
	// +kubebuilder:validation:Type:=string
	// +optional
	TerminationGracePeriod *metav1.Duration `json:"terminationGracePeriod,omitempty"`
	// ExpireAfter is how old the node may grow, or Never.
	// +kubebuilder:validation:Pattern:=`^(([0-9]+(s|m|h))+|Never)$`
	// +kubebuilder:validation:Type:=string
	// +kubebuilder:default:="720h"
	// +optional
	ExpireAfter NillableDuration `json:"expireAfter,omitempty"`
}

// ResourceRequirements is what pods request together.
type ResourceRequirements struct {
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

// Requirement says what values a label of the node may have.
//
// +kubebuilder:validation:XValidation:rule="self.operator != 'In' || (has(self.values) && size(self.values) > 0)",message="operator In needs at least one value"
// +kubebuilder:validation:XValidation:rule="!(self.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || (has(self.values) && size(self.values) == 1 && int(self.values[0]) >= 0)",message="operators Gt, Lt, Gte and Lte need exactly one value, an integer that is not negative"
// +kubebuilder:validation:XValidation:rule="!(self.operator == 'In' && has(self.minValues)) || (has(self.values) && size(self.values) >= self.minValues)",message="operator In with minValues needs at least that many values"
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
	// MinValues is how many distinct values of this label must stay possible.
	// +kubebuilder:validation:Minimum:=1
	// +kubebuilder:validation:Maximum:=50
	// +optional
	MinValues *int `json:"minValues,omitempty"`
}

// The operators that the API knows beside those of a pod's node affinity.
const (
	OperatorGte corev1.NodeSelectorOperator = "Gte"
	OperatorLte corev1.NodeSelectorOperator = "Lte"
)

// NodeClassReference names a class.
type NodeClassReference struct {
	// Group of the class.
	// +kubebuilder:validation:MinLength:=1
	// +kubebuilder:validation:Pattern:=`^[^/]*$`
	Group string `json:"group"`
	// Kind of the class.
	// +kubebuilder:validation:MinLength:=1
	Kind string `json:"kind"`
	// Name of the class.
	// +kubebuilder:validation:MinLength:=1
	Name string `json:"name"`
}

// NodeClaimStatus is how far the claim has come.
type NodeClaimStatus struct {
	// NodeName is the node's name, once it has registered.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// ProviderID is the machine's, once it is launched.
	// +optional
	ProviderID string `json:"providerID,omitempty"`
	// ImageID is what the machine booted from.
	// +optional
	ImageID string `json:"imageID,omitempty"`
	// Capacity is all the machine has, as estimated at launch.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Allocatable is what of it pods may use.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`
	// LastPodEventTime is when a pod last came to the node or went from it.
	// +optional
	LastPodEventTime metav1.Time `json:"lastPodEventTime,omitzero"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Pool returns the name of the NodePool the claim belongs to, or "".
func (c *NodeClaim) Pool() string { return c.Labels[LabelNodePool] }

// Ordered reports whether a machine may have been bought for the claim that its
// status does not show yet.
func (c *NodeClaim) Ordered() bool {
	return c.Annotations[AnnotationOrder] != "" && c.Status.ProviderID == ""
}

// NodeClaimList is a list of claims.
// +kubebuilder:object:root=true
type NodeClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []NodeClaim `json:"items"`
}
