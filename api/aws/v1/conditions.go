package v1

import "github.com/tenon-sh/tenon/api/condition"

// Conditions of an EC2NodeClass. All but CapacityReservationsReady always make it Ready.
const (
	ConditionSubnetsReady              = "SubnetsReady"
	ConditionSecurityGroupsReady       = "SecurityGroupsReady"
	ConditionAMIsReady                 = "AMIsReady"
	ConditionPlacementGroupReady       = "PlacementGroupReady"
	ConditionCapacityReservationsReady = "CapacityReservationsReady"
	ConditionInstanceProfileReady      = "InstanceProfileReady"
	ConditionValidationSucceeded       = "ValidationSucceeded"
)

// Reasons of its conditions.
const (
	ReasonSubnetsNotFound                = "SubnetsNotFound"
	ReasonSecurityGroupsNotFound         = "SecurityGroupsNotFound"
	ReasonAMINotFound                    = "AMINotFound"
	ReasonUnsupportedAlias               = "UnsupportedAlias"
	ReasonPlacementGroupNotFound         = "PlacementGroupNotFound"
	ReasonPlacementGroupFailed           = "PlacementGroupResolutionFailed"
	ReasonDependenciesNotReady           = "DependenciesNotReady"
	ReasonClusterCIDRFailed              = "ClusterCIDRResolutionFailed"
	ReasonInvalidKubelet                 = "InvalidKubeletConfiguration"
	ReasonUnsupportedKubelet             = "UnsupportedKubeletConfiguration"
	ReasonKubeletExpressionsDisabled     = "KubeletExpressionsDisabled"
	ReasonKubeletExpressionInvalid       = "KubeletExpressionInvalid"
	ReasonKubeletExpressionFailed        = "KubeletExpressionEvaluationFailed"
	ReasonTagValidationFailed            = "TagValidationFailed"
	ReasonCreateFleetAuthFailed          = "CreateFleetAuthCheckFailed"
	ReasonCreateLaunchTemplateAuthFailed = "CreateLaunchTemplateAuthCheckFailed"
	ReasonRunInstancesAuthFailed         = "RunInstancesAuthCheckFailed"
	ReasonInstanceProfileNotFound        = "InstanceProfileNotFound"
	ReasonUserDataTooLarge               = "UserDataSizeLimitExceeded"
	ReasonInvalidUserData                = "InvalidUserData"
	ReasonRoleNotFound                   = "InstanceProfileRoleNotFound"
	ReasonClusterEndpointUnknown         = "ClusterEndpointUnknown"
	ReasonClusterVersionUnknown          = "ClusterVersionUnknown"
	ReasonDryRunDisabled                 = "DryRunDisabled"
	ReasonInspectionDelayed              = "InspectionDelayed"
)

// Conditions is the class' conditions, with Ready kept in step. reservations says whether reserved capacity is used,
// and so must be resolved.
func (c *EC2NodeClass) Conditions(reservations bool) condition.View {
	parts := []string{
		ConditionAMIsReady, ConditionSubnetsReady, ConditionSecurityGroupsReady, ConditionPlacementGroupReady,
		ConditionInstanceProfileReady, ConditionValidationSucceeded,
	}
	if reservations {
		parts = append(parts, ConditionCapacityReservationsReady)
	}
	return condition.Of(c, &c.Status.Conditions, parts...)
}
