package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodePool says what nodes may be bought for pending pods, how many, and when they may be given back.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodepools,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.nodes
// +kubebuilder:printcolumn:name="NodeClass",type="string",JSONPath=".spec.template.spec.nodeClassRef.name",description="Class the nodes are made from"
// +kubebuilder:printcolumn:name="Nodes",type="string",JSONPath=".status.nodes",description="Nodes of this pool"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description="Whether the pool can be used"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
// +kubebuilder:printcolumn:name="Weight",type="integer",JSONPath=".spec.weight",priority=1,description="Heavier pools are used first"
// +kubebuilder:printcolumn:name="CPU",type="string",JSONPath=".status.resources.cpu",priority=1,description="CPU of this pool's nodes"
// +kubebuilder:printcolumn:name="Memory",type="string",JSONPath=".status.resources.memory",priority=1,description="Memory of this pool's nodes"
type NodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec   NodePoolSpec   `json:"spec"`
	Status NodePoolStatus `json:"status,omitempty"`
}

// NodePoolSpec is what the user asks for.
//
// +kubebuilder:validation:XValidation:rule="has(self.replicas) == has(oldSelf.replicas)",message="replicas cannot be added or removed: a pool stays static or dynamic, make a new pool instead"
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || !has(self.limits) || size(self.limits) == 0 || (size(self.limits) == 1 && 'nodes' in self.limits)",message="a pool with replicas may only limit nodes"
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || !has(self.weight)",message="a pool with replicas has no weight"
type NodePoolSpec struct {
	// Template is what a node of this pool looks like.
	// +required
	Template NodeClaimTemplate `json:"template"`
	// Disruption says when nodes may be given back.
	// +kubebuilder:default:={consolidateAfter: "0s"}
	// +optional
	Disruption Disruption `json:"disruption"`
	// Limits bounds what all nodes of the pool together may have. `nodes` counts nodes.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`
	// Weight orders pools: the heaviest that can host a pod is used.
	// +kubebuilder:validation:Minimum:=1
	// +kubebuilder:validation:Maximum:=100
	// +optional
	Weight *int32 `json:"weight,omitempty"`
	// Replicas makes the pool static: it has this many nodes, whatever pods there are.
	// +kubebuilder:validation:Minimum:=0
	// +optional
	Replicas *int64 `json:"replicas,omitempty"`
}

// Disruption says when nodes of a pool may be given back.
type Disruption struct {
	// ConsolidateAfter is how long a node rests after its last pod came or went before it may be consolidated, or Never.
	// +kubebuilder:validation:Pattern:=`^(([0-9]+(s|m|h))+|Never)$`
	// +kubebuilder:validation:Type:=string
	// +kubebuilder:default:="0s"
	// +optional
	ConsolidateAfter NillableDuration `json:"consolidateAfter,omitempty"`
	// ConsolidationPolicy says which nodes consolidation looks at.
	// +kubebuilder:default:=WhenEmptyOrUnderutilized
	// +optional
	ConsolidationPolicy ConsolidationPolicy `json:"consolidationPolicy,omitempty"`
	// Budgets bound how many nodes may be going at a time. The tightest that is active counts.
	// +kubebuilder:default:={{nodes: "10%"}}
	// +kubebuilder:validation:MaxItems:=50
	// +kubebuilder:validation:XValidation:rule="self.all(b, has(b.schedule) == has(b.duration))",message="a budget sets both schedule and duration, or neither"
	// +listType=atomic
	// +optional
	Budgets []Budget `json:"budgets,omitempty"`
}

// ConsolidationPolicy says which nodes consolidation looks at.
// +kubebuilder:validation:Enum:={WhenEmpty,WhenEmptyOrUnderutilized,Balanced}
type ConsolidationPolicy string

// The consolidation policies.
const (
	WhenEmpty                ConsolidationPolicy = "WhenEmpty"
	WhenEmptyOrUnderutilized ConsolidationPolicy = "WhenEmptyOrUnderutilized"
	Balanced                 ConsolidationPolicy = "Balanced"
)

// Budget bounds how many nodes of a pool may be going at a time.
type Budget struct {
	// Reasons this budget is for. None given: all.
	// +kubebuilder:validation:MaxItems:=50
	// +listType=set
	// +optional
	Reasons []DisruptionReason `json:"reasons,omitempty"`
	// Nodes is how many may be going, as a number or as a share of the pool.
	// +kubebuilder:validation:Pattern:=`^([0-9]+|([0-9]|[1-9][0-9]|0[0-9]|100)%)$`
	// +kubebuilder:default:="10%"
	Nodes string `json:"nodes"`
	// Schedule is when the budget becomes active: five cron fields in UTC, or a macro such as @daily.
	// +kubebuilder:validation:Pattern:=`^@(annually|yearly|monthly|weekly|daily|midnight|hourly)|.+\s.+\s.+\s.+\s.+`
	// +optional
	Schedule *string `json:"schedule,omitempty"`
	// Duration is how long it stays active, in hours and minutes.
	// +kubebuilder:validation:Pattern:=`^([0-9]+h([0-9]+m)?|[0-9]+m)(0s)?$`
	// +kubebuilder:validation:Type:=string
	// +optional
	Duration *metav1.Duration `json:"duration,omitempty"`
}

// DisruptionReason is why a node is given back.
// +kubebuilder:validation:Enum:={Underutilized,Empty,Drifted}
type DisruptionReason string

// The reasons a budget can name.
const (
	Underutilized DisruptionReason = "Underutilized"
	Empty         DisruptionReason = "Empty"
	Drifted       DisruptionReason = "Drifted"
)

// NodeClaimTemplate is what claims of a pool are made from.
type NodeClaimTemplate struct {
	// Metadata goes to the claim and to its node.
	// +optional
	ObjectMeta `json:"metadata,omitempty"`
	// +required
	Spec NodeClaimTemplateSpec `json:"spec"`
}

// ObjectMeta is the labels and annotations of a template.
type ObjectMeta struct {
	// Labels of the node.
	// +kubebuilder:validation:MaxProperties:=100
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of the node.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// NodeClaimTemplateSpec is the spec of a claim of the pool, but for what its pods request.
type NodeClaimTemplateSpec struct {
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
	// NodeClassRef names the class with the settings of the cloud.
	// +kubebuilder:validation:XValidation:rule="self.group == oldSelf.group",message="the group of a pool's class cannot be changed, make a new pool instead"
	// +kubebuilder:validation:XValidation:rule="self.kind == oldSelf.kind",message="the kind of a pool's class cannot be changed, make a new pool instead"
	// +required
	NodeClassRef *NodeClassReference `json:"nodeClassRef"`
	// TerminationGracePeriod is how long a node may drain before what is left on it is killed. Unset: for ever.
	// +kubebuilder:validation:Pattern:=`^([0-9]+(s|m|h))+$`
	// +kubebuilder:validation:Type:=string
	// +optional
	TerminationGracePeriod *metav1.Duration `json:"terminationGracePeriod,omitempty"`
	// ExpireAfter is how old a node may grow, or Never.
	// +kubebuilder:validation:Pattern:=`^(([0-9]+(s|m|h))+|Never)$`
	// +kubebuilder:validation:Type:=string
	// +kubebuilder:default:="720h"
	// +optional
	ExpireAfter NillableDuration `json:"expireAfter,omitempty"`
}

// NodePoolStatus is what is.
type NodePoolStatus struct {
	// Resources is what the pool's nodes have together.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`
	// Nodes is how many nodes the pool has.
	// +kubebuilder:default:=0
	// +optional
	Nodes *int64 `json:"nodes,omitempty"`
	// NodeClassObservedGeneration is the generation of the class that NodeRegistrationHealthy speaks of.
	// +optional
	NodeClassObservedGeneration int64 `json:"nodeClassObservedGeneration,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Static reports whether the pool has a fixed number of nodes.
func (p *NodePool) Static() bool { return p.Spec.Replicas != nil }

// NodePoolList is a list of pools.
// +kubebuilder:object:root=true
type NodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []NodePool `json:"items"`
}
