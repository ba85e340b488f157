package refusal_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/smithy-go"

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
		"Strange": {why: "What nobody knows is unknown.", code: "SomethingNew", want: cloud.Unknown, reason: "LaunchFailed"},
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
