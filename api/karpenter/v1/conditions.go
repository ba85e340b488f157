package v1

import "github.com/tenon-sh/tenon/api/condition"

// Conditions of a NodePool. The first two make it Ready.
const (
	ConditionValidationSucceeded     = "ValidationSucceeded"
	ConditionNodeClassReady          = "NodeClassReady"
	ConditionNodeRegistrationHealthy = "NodeRegistrationHealthy"
)

// Reasons of a NodePool's conditions.
const (
	ReasonValidationFailed          = "NodePoolValidationFailed"
	ReasonNodeClassNotFound         = "NodeClassNotFound"
	ReasonNodeClassTerminating      = "NodeClassTerminating"
	ReasonNodeClassReadinessUnknown = "NodeClassReadinessUnknown"
	ReasonRegistrationFailed        = "RegistrationFailed"
)

// Conditions of a NodeClaim. The first three make it Ready.
const (
	ConditionLaunched             = "Launched"
	ConditionRegistered           = "Registered"
	ConditionInitialized          = "Initialized"
	ConditionConsolidatable       = "Consolidatable"
	ConditionDrifted              = "Drifted"
	ConditionDisruptionReason     = "DisruptionReason"
	ConditionConsistentStateFound = "ConsistentStateFound"
	ConditionDrained              = "Drained"
	ConditionVolumesDetached      = "VolumesDetached"
	ConditionInstanceTerminating  = "InstanceTerminating"
)

// Reasons of a NodeClaim's conditions.
const (
	ReasonLaunchFailed             = "LaunchFailed"
	ReasonNodeNotFound             = "NodeNotFound"
	ReasonRegistrationHookPending  = "RegistrationHookPending"
	ReasonWaitingForZones          = "WaitingForZones"
	ReasonMultipleNodesFound       = "MultipleNodesFound"
	ReasonNodeNotReady             = "NodeNotReady"
	ReasonStartupTaints            = "StartupTaintsExist"
	ReasonEphemeralTaints          = "KnownEphemeralTaintsExist"
	ReasonResourceNotRegistered    = "ResourceNotRegistered"
	ReasonDRADriversNotPublished   = "DRADriverPoolsNotPublished"
	ReasonConsistencyCheckFailed   = "ConsistencyCheckFailed"
	ReasonDraining                 = "Draining"
	ReasonAwaitingVolumeDetachment = "AwaitingVolumeDetachment"
	ReasonGracePeriodElapsed       = "TerminationGracePeriodElapsed"
	ReasonTerminationFailed        = "TerminationFailed"
	ReasonNodePoolDrifted          = "NodePoolDrifted"
	ReasonRequirementsDrifted      = "RequirementsDrifted"
	ReasonInstanceTypeNotFound     = "InstanceTypeNotFound"
)

// Conditions is the pool's conditions, with Ready kept in step.
func (p *NodePool) Conditions() condition.View {
	return condition.Of(p, &p.Status.Conditions, ConditionValidationSucceeded, ConditionNodeClassReady)
}

// Conditions is the claim's conditions, with Ready kept in step.
func (c *NodeClaim) Conditions() condition.View {
	return condition.Of(c, &c.Status.Conditions, ConditionLaunched, ConditionRegistered, ConditionInitialized)
}
