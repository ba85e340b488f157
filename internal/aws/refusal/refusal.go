// Package refusal turns what AWS answers when it refuses into the codes that the rest of Tenon knows.
package refusal

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/tenon-sh/tenon/internal/cloud"
)

// soldOut are the codes by which EC2 says that it has no such machine to give now.
var soldOut = []string{
	"InsufficientInstanceCapacity", "MaxSpotInstanceCountExceeded", "VcpuLimitExceeded", "UnfulfillableCapacity",
	"Unsupported", "InsufficientFreeAddressesInSubnet", "MaxFleetCountExceeded", "ReservationCapacityExceeded",
	"InsufficientCapacityOnHost", "SpotMaxPriceTooLow",
}

// gone are the codes by which a service says that the thing asked about is not there.
var gone = []string{
	"InvalidInstanceID.NotFound", "InvalidCapacityReservationId.NotFound", "InvalidLaunchTemplateName.NotFoundException",
	"InvalidLaunchTemplateId.NotFound", "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue", "NoSuchEntity",
	"ParameterNotFound", "ResourceNotFoundException",
}

var throttled = []string{"RequestLimitExceeded", "Throttling", "ThrottlingException", "TooManyRequestsException", "RequestThrottled"}

var unauthorised = []string{
	"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthFailure", "InvalidClientTokenId",
	"UnrecognizedClientException", "ExpiredToken", "ExpiredTokenException", "RequestExpired", "SignatureDoesNotMatch", "OptInRequired",
	"AuthFailure.ServiceLinkedRoleCreationNotPermitted",
}

// invalid are the codes of requests that fail the same way however often they are sent.
var invalid = []string{
	"InvalidParameterValue", "InvalidParameter", "InvalidParameterCombination", "InvalidAMIID.NotFound", "InvalidAMIID.Malformed",
	"InvalidSubnetID.NotFound", "InvalidGroup.NotFound", "InvalidUserData.Malformed", "ValidationError", "MissingParameter",
	"UserDataSizeLimitExceeded", "InvalidSecurityGroupID.NotFound", "IdempotentParameterMismatch",
}

// absent are the codes by which a server says that it does not have the call at all.
var absent = []string{
	"InvalidAction", "UnsupportedOperation", "UnknownOperationException", "UnknownOperation", "NotImplemented", "NotImplementedException",
	"ActionNotFound", "InvalidActionException", "UnsupportedOperationException",
}

// Absent reports whether a server does not have the call: neither AWS in every
// partition nor what speaks like it has them all. An answer that is none of
// AWS's own, such as a page of text, counts as well.
func Absent(err error) bool {
	var answered *smithyhttp.ResponseError
	code := Code(err)
	switch {
	case slices.Contains(absent, code):
		return true
	case !errors.As(err, &answered):
		return false
	}
	status := answered.HTTPStatusCode()
	return status == http.StatusNotImplemented || status == http.StatusMethodNotAllowed ||
		(code == "" || code == "UnknownError") && (status == http.StatusNotFound || status == http.StatusInternalServerError)
}

// Code returns the provider's own code of an error; empty if it carries none.
func Code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// Is reports whether AWS answered with that code.
func Is(err error, code string) bool { return Code(err) == code }

// Gone reports whether AWS says that the thing asked about is not there.
func Gone(err error) bool { return slices.Contains(gone, Code(err)) }

// Kind tells what an AWS code means to whoever asked.
func Kind(code string) cloud.Code {
	switch {
	case slices.Contains(soldOut, code):
		return cloud.Capacity
	case slices.Contains(gone, code):
		return cloud.Gone
	case slices.Contains(throttled, code):
		return cloud.Throttled
	case slices.Contains(unauthorised, code):
		return cloud.Unauthorised
	case slices.Contains(invalid, code):
		return cloud.Invalid
	}
	return cloud.Unknown
}

// told is an error in words that stay the same from one call to the next: the
// SDK's own name the request, and a condition that showed them would change with
// every look.
type told struct {
	text string
	err  error
}

// Error is the error in words.
func (t *told) Error() string { return t.text }

// Unwrap is the SDK's error.
func (t *told) Unwrap() error { return t.err }

// tell puts an error of the SDK into words.
func tell(err error) error {
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() != "" && api.ErrorMessage() != "" {
		return &told{api.ErrorCode() + ": " + api.ErrorMessage(), err}
	}
	text := err.Error()
	if before, after, ok := strings.Cut(text, ", RequestID: "); ok {
		_, after, _ = strings.Cut(after, ", ")
		text = before + ", " + after
	}
	return &told{text, err}
}

// Wrap gives err its code and the reason that a claim's condition shows; nil for nil.
func Wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	var known *cloud.Error
	if errors.As(err, &known) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	text := err.Error()
	var api smithy.APIError
	if errors.As(err, &api) {
		text = api.ErrorCode() + ": " + api.ErrorMessage()
	}
	return &cloud.Error{Code: Kind(Code(err)), Reason: Reason(text), Err: fmt.Errorf("%s: %w", doing, tell(err))}
}

// reasons maps what stands in an error to the reason shown in the Launched
// condition. The first match wins, so the order matters.
var reasons = []struct{ contains, reason string }{
	{"AuthFailure.ServiceLinkedRoleCreationNotPermitted", "SpotSLRCreationFailed"},
	{"permissions boundary", "Unauthorized"},
	{"service control policy", "Unauthorized"},
	{"Not authorized for images", "AMIAuthorizationFailure"},
	{"UnauthorizedOperation", "Unauthorized"},
	{"AccessDenied", "Unauthorized"},
	{"belong to different networks", "SecurityGroupSubnetVPCMismatch"},
	{"iamInstanceProfile.name", "InstanceProfileNameInvalid"},
	{"InvalidLaunchTemplate", "LaunchTemplateNotFound"},
	{"User data is limited to", "UserDataSizeLimitExceeded"},
	{"InvalidAMIID.Malformed", "InvalidAMIID"},
	{"InvalidAMIID.NotFound", "AMINotFound"},
	{"RequestLimitExceeded", "RequestLimitExceeded"},
	{"InternalError", "InternalError"},
	{"not eligible for Free Tier", "FreeTierIneligible"},
	{"MaxFleetCountExceeded", "FleetQuotaExceeded"},
	{"PendingVerification", "AccountPendingVerification"},
	{"MaxSpotInstanceCountExceeded", "SpotQuotaExceeded"},
	{"VcpuLimitExceeded", "VCPULimitExceeded"},
	{"InsufficientFreeAddressesInSubnet", "InsufficientFreeAddressesInSubnet"},
}

// Reason names an error for a condition.
func Reason(text string) string {
	for _, r := range reasons {
		if strings.Contains(text, r.contains) {
			return r.reason
		}
	}
	return "LaunchFailed"
}
