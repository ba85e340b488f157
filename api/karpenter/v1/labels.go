package v1

import "strings"

// Labels on claims and nodes.
const (
	LabelNodePool     = Group + "/nodepool"      // the pool a claim or node belongs to
	LabelCapacityType = Group + "/capacity-type" // how its machine is paid for
	LabelRegistered   = Group + "/registered"    // "true": the node was matched to its claim
	LabelInitialized  = Group + "/initialized"   // "true": the node can take pods
	// LabelDoNotSyncTaints is "true" on a node whose taints its own bootstrap set in full.
	LabelDoNotSyncTaints = Group + "/do-not-sync-taints"
	// LabelExcludeBalancers takes a node that goes out of external load balancers.
	LabelExcludeBalancers = "node.kubernetes.io/exclude-from-external-load-balancers"
	// ExcludedByUs is the value of LabelExcludeBalancers that says that it was set here.
	ExcludedByUs = "karpenter"
)

// Values of LabelCapacityType.
const (
	CapacitySpot     = "spot"
	CapacityOnDemand = "on-demand"
	CapacityReserved = "reserved"
)

// Labels of others that a claim's requirements and a node's labels speak of.
const (
	LabelZone         = "topology.kubernetes.io/zone"
	LabelRegion       = "topology.kubernetes.io/region"
	LabelInstanceType = "node.kubernetes.io/instance-type"
	LabelArch         = "kubernetes.io/arch"
	LabelOS           = "kubernetes.io/os"
	LabelHostname     = "kubernetes.io/hostname"
	LabelWindowsBuild = "node.kubernetes.io/windows-build"
)

// Annotations.
const (
	AnnotationDoNotDisrupt    = Group + "/do-not-disrupt" // on a pod "true" or how long from its start, on a node "true"
	AnnotationPoolHash        = Group + "/nodepool-hash"
	AnnotationPoolHashVersion = Group + "/nodepool-hash-version"
	// AnnotationTerminationTime is when a claim's node goes, drained or not (RFC 3339).
	AnnotationTerminationTime = Group + "/nodeclaim-termination-timestamp"
	// AnnotationMinValuesRelaxed is "true" on a claim that was planned with fewer distinct values than asked.
	AnnotationMinValuesRelaxed = Group + "/nodeclaim-min-values-relaxed"
	// AnnotationRequestedDRADrivers lists the drivers that must publish before a node counts as initialized.
	AnnotationRequestedDRADrivers = Group + "/requested-dra-drivers"
	// AnnotationDevices states, on a NodePool, the devices that drivers of dynamic resources will publish of its nodes: a list in YAML or JSON.
	AnnotationDevices         = Group + "/devices"
	AnnotationPriceOverlay    = Group + "/price-overlay-applied"
	AnnotationCapacityOverlay = Group + "/capacity-overlay-applied"
	AnnotationCompatProvider  = "compatibility." + Group + "/provider" // left on claims of older releases
	AnnotationPodDeletionCost = "controller.kubernetes.io/pod-deletion-cost"
)

// The order a claim belongs to. They are written before a machine is bought, so that a crash buys none twice.
const (
	AnnotationOrder      = Group + "/order"       // one fleet request: claims of one plan that want the same
	AnnotationOrderPlace = Group + "/order-place" // which of the order's machines is this claim's, from 0
	AnnotationOrderSize  = Group + "/order-size"
)

// Taints and the finalizer.
const (
	TaintDisrupted    = Group + "/disrupted"    // NoSchedule: the node is going
	TaintUnregistered = Group + "/unregistered" // NoExecute: the node is not yet matched to its claim
	Finalizer         = Group + "/termination"  // on nodes and claims
)

// LabelNodeClass returns the label that names a claim's class, and marks the nodes that are ours.
func LabelNodeClass(group, kind string) string { return group + "/" + strings.ToLower(kind) }
