package market

import (
	"fmt"
	"strings"
)

// Error is a refusal as EC2 words it: a code for programs and a message for people.
type Error struct {
	Code    string
	Message string
	Status  int // of HTTP; 0: the usual of the code
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Errorf makes an Error.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Codes of refusals that callers treat by code.
const (
	InsufficientInstanceCapacity       = "InsufficientInstanceCapacity"
	UnfulfillableCapacity              = "UnfulfillableCapacity"
	InsufficientFreeAddressesInSubnet  = "InsufficientFreeAddressesInSubnet"
	MaxSpotInstanceCountExceeded       = "MaxSpotInstanceCountExceeded"
	VcpuLimitExceeded                  = "VcpuLimitExceeded"
	ReservationCapacityExceeded        = "ReservationCapacityExceeded"
	SpotMaxPriceTooLow                 = "SpotMaxPriceTooLow"
	InvalidFleetConfiguration          = "InvalidFleetConfiguration"
	ServiceLinkedRoleMissing           = "AuthFailure.ServiceLinkedRoleCreationNotPermitted"
	IdempotentParameterMismatch        = "IdempotentParameterMismatch"
	RequestLimitExceeded               = "RequestLimitExceeded"
	UnauthorizedOperation              = "UnauthorizedOperation"
	DryRunOperation                    = "DryRunOperation"
	InvalidParameterValue              = "InvalidParameterValue"
	InvalidParameterCombination        = "InvalidParameterCombination"
	MissingParameter                   = "MissingParameter"
	InvalidInstanceIDNotFound          = "InvalidInstanceID.NotFound"
	InvalidInstanceIDMalformed         = "InvalidInstanceID.Malformed"
	InvalidLaunchTemplateNameNotFound  = "InvalidLaunchTemplateName.NotFoundException"
	InvalidLaunchTemplateIDNotFound    = "InvalidLaunchTemplateId.NotFound"
	InvalidLaunchTemplateVersion       = "InvalidLaunchTemplateId.VersionNotFound"
	InvalidLaunchTemplateNameExists    = "InvalidLaunchTemplateName.AlreadyExistsException"
	InvalidLaunchTemplateNameMalformed = "InvalidLaunchTemplateName.MalformedException"
	InvalidAMIIDNotFound               = "InvalidAMIID.NotFound"
	InvalidSubnetIDNotFound            = "InvalidSubnetID.NotFound"
	InvalidVolumeNotFound              = "InvalidVolume.NotFound"
	InvalidInterfaceNotFound           = "InvalidNetworkInterfaceID.NotFound"
	InvalidGroupNotFound               = "InvalidGroup.NotFound"
	InvalidReservationNotFound         = "InvalidCapacityReservationId.NotFound"
	InvalidPlacementGroupUnknown       = "InvalidPlacementGroup.Unknown"
	InvalidID                          = "InvalidID"
	TagLimitExceeded                   = "TagLimitExceeded"
	NoSuchEntity                       = "NoSuchEntity"
	EntityAlreadyExists                = "EntityAlreadyExists"
	DeleteConflict                     = "DeleteConflict"
	LimitExceeded                      = "LimitExceeded"
	ParameterNotFound                  = "ParameterNotFound"
	QueueDoesNotExist                  = "QueueDoesNotExist"
	ReceiptHandleIsInvalid             = "ReceiptHandleIsInvalid"
	ResourceNotFoundException          = "ResourceNotFoundException"
)

// noCapacity is EC2's answer when an on-demand pool is empty; others are the zones that still have some.
func noCapacity(typ, zone string, others []string) *Error {
	text := fmt.Sprintf("We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). "+
		"Our system will be working on provisioning additional capacity.", typ, zone)
	if len(others) > 0 {
		text += fmt.Sprintf(" You can currently get %s capacity by not specifying an Availability Zone in your request or choosing %s.",
			typ, strings.Join(others, ", "))
	}
	return &Error{Code: InsufficientInstanceCapacity, Message: text}
}

func noSpot() *Error {
	return &Error{Code: InsufficientInstanceCapacity, Message: "There is no Spot capacity available that matches your request."}
}

func notOffered(typ, zone string, others []string) *Error {
	text := fmt.Sprintf("Your requested instance type (%s) is not supported in your requested Availability Zone (%s). "+
		"Please retry your request by not specifying an Availability Zone", typ, zone)
	if len(others) > 0 {
		text += " or choosing " + strings.Join(others, ", ")
	}
	return &Error{Code: InvalidFleetConfiguration, Message: text + "."}
}

func unfulfillable() *Error {
	return &Error{Code: UnfulfillableCapacity, Message: "Unable to fulfill capacity due to your request configuration. Please adjust your request and try again."}
}

// noInstances is EC2's answer for instance ids it does not know.
func noInstances(ids []string) *Error {
	if len(ids) == 1 {
		return Errorf(InvalidInstanceIDNotFound, "The instance ID '%s' does not exist", ids[0])
	}
	return Errorf(InvalidInstanceIDNotFound, "The instance IDs '%s' do not exist", strings.Join(ids, ", "))
}
