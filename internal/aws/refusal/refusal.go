// Package refusal turns what AWS answers when it refuses into the codes that the rest of Tenon knows.
package refusal

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
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
	"InsufficientCapacityOnHost", "SpotMaxPriceTooLow", noType, noType + ".NotFound",
}

// noType is the code by which EC2 says that it has no such instance type.
const noType = "InvalidInstanceType"

// NoType reports whether EC2 says that it does not have an instance type.
func NoType(err error) bool { return strings.HasPrefix(Code(err), noType) }

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

// Kind is what an AWS code means to the caller.
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
	case slices.Contains(invalid, code), strings.HasPrefix(code, "Invalid"):
		return cloud.Invalid
	}
	return cloud.Unknown
}

// KindOf is what a refusal means to the caller: by its code, or by its
// status where the code is none that is known. A service or a gateway before it
// that answers 401 or 403 has said that it is not allowed, whatever it calls that.
func KindOf(err error) cloud.Code {
	kind := Kind(Code(err))
	var answered *smithyhttp.ResponseError
	if kind != cloud.Unknown || Absent(err) || !errors.As(err, &answered) {
		return kind
	}
	if status := answered.HTTPStatusCode(); status == http.StatusUnauthorized || status == http.StatusForbidden {
		return cloud.Unauthorised
	}
	return kind
}

// steadyError is an error in words that stay the same from one call to the next: the
// SDK's own name the request, and a condition that showed them would change with
// every look.
type steadyError struct {
	text string
	err  error
}

// Error is the error in words.
func (t *steadyError) Error() string { return t.text }

// Unwrap is the SDK's error.
func (t *steadyError) Unwrap() error { return t.err }

// inWords puts an error of the SDK into words.
func inWords(err error) error {
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() != "" && api.ErrorMessage() != "" {
		return &steadyError{Steady(api.ErrorCode() + ": " + api.ErrorMessage()), err}
	}
	return &steadyError{Steady(err.Error()), err}
}

// moving are the parts of AWS's and the SDK's words that are others at each try
// of the same request, and what stands in their place.
var moving = []struct {
	part *regexp.Regexp
	by   string
}{
	// What is encoded there is in CloudTrail's record of the call, too.
	{regexp.MustCompile(`\s*Encoded authorization failure message: [A-Za-z0-9_=+/-]+\.?`), ""},
	{regexp.MustCompile(`(?i), RequestID: [^,]*`), ""},
	{regexp.MustCompile(`(?i)\(?\brequest ?id: [0-9a-f-]{8,}\)?`), ""},
	{regexp.MustCompile(`\b(read|write) (tcp|udp) \S+->`), "$1 $2 "}, // the port of this side
	{regexp.MustCompile(`\b\d{8}T\d{6}Z\b`), "(time)"},               // of a signature
	{regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z\b`), "(time)"},
	{regexp.MustCompile(`retry quota exceeded, \d+ available, \d+ requested`), "retry quota exceeded"},
}

// Steady takes out of a message what is new in each answer to the same request.
// Logs, events and conditions are compared by their words: with it in them,
// each try would be another.
func Steady(text string) string {
	for _, m := range moving {
		text = m.part.ReplaceAllString(text, m.by)
	}
	return strings.TrimSpace(text)
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
	return &cloud.Error{Code: KindOf(err), Reason: Reason(text), Err: fmt.Errorf("%s: %w", doing, inWords(err))}
}

// What to do about a call that is not allowed, by why it is not.
const (
	adviceAllow = "allow it to the controller's role, as the policies of the installation do"
	adviceDeny  = "a policy denies it, whatever others allow: look there for what it demands, such as IMDSv2, encrypted volumes or tags, and set that in the class, or have the policy changed"
	adviceScope = "the controller's role may do it by its own policies, but not by this one: have it allowed there"
)

// Advice says what to do about a refusal for want of a permission. AWS tells an
// explicit deny from a permission that nothing grants.
func Advice(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "explicit deny"):
		return adviceDeny
	case strings.Contains(text, "no service control policy allows"), strings.Contains(text, "no permissions boundary allows"), strings.Contains(text, "no resource control policy allows"), strings.Contains(text, "no session policy allows"):
		return adviceScope
	}
	return adviceAllow
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
