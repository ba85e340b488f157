package awsapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// refused turns a fault rule into the refusal that the service would word.
func refused(c *call, rule *fault.Rule) error {
	if rule == nil {
		return nil
	}
	switch rule.Kind {
	case fault.Throttle:
		return throttled(c)
	case fault.Deny:
		return denied(c)
	case fault.Expire:
		return expired(c)
	}
	code, message := rule.Code, rule.Message
	if code == "" {
		code, message = "InternalError", "An internal error has occurred"
	}
	return &market.Error{Code: code, Message: message, Status: rule.Status}
}

func throttled(c *call) error {
	switch c.service {
	case "ec2":
		return market.Errorf(market.RequestLimitExceeded, "Request limit exceeded.")
	case "iam", "sts", "cloudformation":
		return market.Errorf("Throttling", "Rate exceeded")
	case "sqs":
		return market.Errorf("RequestThrottled", "Request is throttled.")
	default:
		return market.Errorf("ThrottlingException", "Rate exceeded")
	}
}

func denied(c *call) error {
	action := c.service + ":" + c.action
	if c.service == "ec2" {
		return market.Errorf(market.UnauthorizedOperation, "You are not authorized to perform this operation. User: %s is not authorized to perform: %s "+
			"because no identity-based policy allows the %s action. Encoded authorization failure message: %s", c.caller.arn, action, action, strings.ReplaceAll(c.id, "-", ""))
	}
	code := "AccessDeniedException"
	if c.speech == query {
		code = "AccessDenied"
	}
	return market.Errorf(code, "User: %s is not authorized to perform: %s because no identity-based policy allows the %s action", c.caller.arn, action, action)
}

func expired(c *call) error {
	if c.service == "ec2" {
		return market.Errorf("RequestExpired", "Request has expired.")
	}
	return market.Errorf("ExpiredTokenException", "The security token included in the request is expired")
}

// refusal is a refusal in the words of the service's protocol.
func refusal(c *call, err error) answer {
	var why *market.Error
	if !errors.As(err, &why) {
		why = &market.Error{Code: "InternalError", Message: err.Error()}
	}
	status := cmp.Or(why.Status, statusOf(c.service, why.Code))
	switch c.speech {
	case target:
		return jsonRefusal(c, why, status)
	case rest:
		body, _ := json.Marshal(map[string]string{"message": why.Message})
		return answer{status: status, kind: "application/json", body: body, header: map[string]string{"X-Amzn-ErrorType": why.Code}}
	}
	if c.service == "ec2" {
		body := document("Response", "", el("Errors", el("Error", txt("Code", why.Code), txt("Message", why.Message))), txt("RequestID", c.id))
		return answer{status: status, kind: "text/xml;charset=UTF-8", body: body}
	}
	code := why.Code
	if code == market.QueueDoesNotExist {
		code = "AWS.SimpleQueueService.NonExistentQueue"
	}
	space := map[string]string{"iam": iamNamespace, "sts": stsNamespace, "cloudformation": cfnNamespace, "sqs": sqsNamespace}[c.service]
	whose := "Sender"
	if status >= http.StatusInternalServerError {
		whose = "Receiver"
	}
	body := document("ErrorResponse", space,
		el("Error", txt("Type", whose), txt("Code", code), txt("Message", why.Message)), txt("RequestId", c.id))
	return answer{status: status, kind: "text/xml", body: body}
}

func jsonRefusal(c *call, why *market.Error, status int) answer {
	kind := why.Code
	header := map[string]string{}
	if c.service == "sqs" {
		old := why.Code
		if why.Code == market.QueueDoesNotExist {
			old = "AWS.SimpleQueueService.NonExistentQueue"
		}
		kind = "com.amazonaws.sqs#" + why.Code
		header["x-amzn-query-error"] = old + ";Sender"
	}
	message := "message"
	if c.service == "ssm" && why.Message == "" {
		body, _ := json.Marshal(map[string]string{"__type": kind})
		return answer{status: status, kind: jsonType(c.service), body: body}
	}
	body, _ := json.Marshal(map[string]string{"__type": kind, message: why.Message})
	return answer{status: status, kind: jsonType(c.service), body: body, header: header}
}

// statusOf is the HTTP status AWS answers a code with.
func statusOf(service, code string) int {
	switch code {
	case market.UnauthorizedOperation, "AccessDenied", market.ServiceLinkedRoleMissing:
		return http.StatusForbidden
	case "AccessDeniedException":
		if service == "eks" || service == "arc-zonal-shift" {
			return http.StatusForbidden
		}
		return http.StatusBadRequest
	case market.DryRunOperation:
		return http.StatusPreconditionFailed
	case market.RequestLimitExceeded, "Unavailable", "ServiceUnavailable":
		return http.StatusServiceUnavailable
	case "InternalError", "InternalFailure", "InternalServerError":
		return http.StatusInternalServerError
	case market.InsufficientInstanceCapacity, market.UnfulfillableCapacity:
		return http.StatusInternalServerError
	case market.NoSuchEntity:
		return http.StatusNotFound
	case market.EntityAlreadyExists, market.DeleteConflict, market.LimitExceeded:
		return http.StatusConflict
	case market.ResourceNotFoundException:
		return http.StatusNotFound
	case "ThrottlingException":
		if service == "eks" || service == "arc-zonal-shift" {
			return http.StatusTooManyRequests
		}
		return http.StatusBadRequest
	default:
		return http.StatusBadRequest
	}
}

// unknown is the refusal of an action that a service does not have.
func unknown(c *call) error {
	switch c.speech {
	case target:
		return &market.Error{Code: "UnknownOperationException"}
	case rest:
		return market.Errorf("UnknownOperationException", "Unable to determine service/operation name to be authorized")
	}
	if c.action == "" {
		return market.Errorf("MissingAction", "The request must contain the parameter Action")
	}
	return market.Errorf("InvalidAction", "The action %s is not valid for this web service.", c.action)
}

// dryRun ends a dry run that would have worked.
func dryRun() error {
	return market.Errorf(market.DryRunOperation, "Request would have succeeded, but DryRun flag is set.")
}

func missing(name string) error {
	return market.Errorf(market.MissingParameter, "The request must contain the parameter %s", name)
}

func quoted(text string) string { return fmt.Sprintf("%q", text) }
