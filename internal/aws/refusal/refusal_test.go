package refusal_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/cloud"
)

func TestWrap(t *testing.T) {
	tests := map[string]struct {
		why        string
		code, text string
		want       cloud.Code
		reason     string
		wantGone   bool
	}{
		"SoldOut": {
			why:  "No capacity means: plan again without the offer.",
			code: "InsufficientInstanceCapacity", text: "We currently do not have sufficient p3.8xlarge capacity",
			want: cloud.Capacity, reason: "LaunchFailed",
		},
		"Quota":     {why: "A quota is a kind of no capacity, with a name of its own.", code: "VcpuLimitExceeded", want: cloud.Capacity, reason: "VCPULimitExceeded"},
		"Gone":      {why: "A machine that is not there is terminated.", code: "InvalidInstanceID.NotFound", want: cloud.Gone, reason: "LaunchFailed", wantGone: true},
		"Forbidden": {why: "A permission is missing.", code: "UnauthorizedOperation", want: cloud.Unauthorised, reason: "Unauthorized"},
		"NoSpotRole": {
			why:  "The missing role for spot is told apart from other permissions.",
			code: "AuthFailure.ServiceLinkedRoleCreationNotPermitted", want: cloud.Unauthorised, reason: "SpotSLRCreationFailed",
		},
		"Later":   {why: "Throttling passes.", code: "RequestLimitExceeded", want: cloud.Throttled, reason: "RequestLimitExceeded"},
		"Never":   {why: "A bad image stays bad.", code: "InvalidAMIID.NotFound", want: cloud.Invalid, reason: "AMINotFound"},
		"Type":    {why: "A type that is not sold is like one that is sold out.", code: "InvalidInstanceType.NotFound", want: cloud.Capacity, reason: "LaunchFailed"},
		"Wrong":   {why: "What EC2 calls invalid stays so.", code: "InvalidKeyPair.NotFound", want: cloud.Invalid, reason: "LaunchFailed"},
		"Strange": {why: "A code that is not known is unknown.", code: "SomethingNew", want: cloud.Unknown, reason: "LaunchFailed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := refusal.Wrap("create fleet", fmt.Errorf("sdk: %w", &smithy.GenericAPIError{Code: tc.code, Message: tc.text}))
			var got *cloud.Error
			if !errors.As(err, &got) || got.Code != tc.want || got.Reason != tc.reason || refusal.Gone(err) != tc.wantGone {
				t.Errorf("%s\n%s: got %+v, want code %s reason %s gone %t", tc.why, tc.code, got, tc.want, tc.reason, tc.wantGone)
			}
		})
	}
	if refusal.Wrap("x", nil) != nil {
		t.Error("no error must stay none")
	}
	network := refusal.Wrap("create fleet", errors.New("dial tcp: connection refused"))
	if cloud.CodeOf(network) != cloud.Unknown {
		t.Errorf("an error of the network has code %q", cloud.CodeOf(network))
	}
}

// A condition shows the same words however often it is looked: they do not name the request.
func TestWordsStay(t *testing.T) {
	refused := &smithy.OperationError{ServiceID: "IAM", OperationName: "GetInstanceProfile", Err: fmt.Errorf("https response error StatusCode: 403, RequestID: e2dcbb24, %w", &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"})}
	garbled := &smithy.OperationError{ServiceID: "IAM", OperationName: "GetInstanceProfile", Err: errors.New("https response error StatusCode: 500, RequestID: e2dcbb24, deserialization failed")}
	for err, want := range map[error]string{
		refused: "get instance profile: AccessDenied: no",
		garbled: "get instance profile: operation error IAM: GetInstanceProfile, https response error StatusCode: 500, deserialization failed",
	} {
		got := refusal.Wrap("get instance profile", err)
		if got.Error() != want || !errors.Is(got, err) {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

// What is new in each answer to the same request is not told: two tries say the same.
func TestSteady(t *testing.T) {
	tests := map[string]struct{ first, second, want string }{
		"Encoded": {
			"You are not authorized to perform this operation. Encoded authorization failure message: 4f3Ab-_9xQ",
			"You are not authorized to perform this operation. Encoded authorization failure message: Zz81_-kKd0",
			"You are not authorized to perform this operation.",
		},
		"Port": {
			"Post \"https://ec2\": read tcp 10.0.1.2:43210->52.1.2.3:443: read: connection reset by peer",
			"Post \"https://ec2\": read tcp 10.0.1.2:43218->52.1.2.3:443: read: connection reset by peer",
			"Post \"https://ec2\": read tcp 52.1.2.3:443: read: connection reset by peer",
		},
		"Clock": {
			"SignatureDoesNotMatch: Signature expired: 20260102T030405Z is now earlier than 20260102T040405Z (20260102T040905Z - 5 min.)",
			"SignatureDoesNotMatch: Signature expired: 20260102T030415Z is now earlier than 20260102T040415Z (20260102T040915Z - 5 min.)",
			"SignatureDoesNotMatch: Signature expired: (time) is now earlier than (time) ((time) - 5 min.)",
		},
		"Request": {
			"https response error StatusCode: 500, RequestID: e2dcbb24-0000-4a4a, deserialization failed",
			"https response error StatusCode: 500, RequestID: , deserialization failed",
			"https response error StatusCode: 500, deserialization failed",
		},
	}
	for name, tc := range tests {
		if a, b := refusal.Steady(tc.first), refusal.Steady(tc.second); a != tc.want || b != tc.want {
			t.Errorf("%s: got %q and %q, want %q", name, a, b, tc.want)
		}
	}
	const stays = "You have exceeded 12 of 10 vCPUs in us-west-2a for m5.large, subnet-0123456789abcdef0"
	if got := refusal.Steady(stays); got != stays {
		t.Errorf("%q became %q", stays, got)
	}
}

// A service may word a refusal as it likes: what it answers 403 is not allowed.
func TestKindOfStatus(t *testing.T) {
	answered := func(status int, code string) error {
		return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: &smithy.GenericAPIError{Code: code, Message: "no"}}
	}
	for err, want := range map[error]cloud.Code{
		answered(403, "PolicyOfTheHouse"): cloud.Unauthorised,
		answered(401, ""):                 cloud.Unauthorised,
		answered(500, "Whatever"):         cloud.Unknown,
		answered(403, "Throttling"):       cloud.Throttled,
	} {
		if got := cloud.CodeOf(refusal.Wrap("get instance profile x", err)); got != want {
			t.Errorf("%v is %s, want %s", err, got, want)
		}
	}
}

// An explicit deny is not mended by allowing more.
func TestAdvice(t *testing.T) {
	for text, want := range map[string]string{
		"User: x is not authorized to perform: ec2:RunInstances because no identity-based policy allows the ec2:RunInstances action": "allow it to the controller's role",
		"User: x is not authorized to perform: ec2:RunInstances with an explicit deny in a service control policy":                   "a policy denies it",
		"User: x is not authorized to perform: ec2:RunInstances because no permissions boundary allows the ec2:RunInstances action":  "not by this one",
	} {
		if got := refusal.Advice(errors.New(text)); !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
}
