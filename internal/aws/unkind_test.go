package aws_test

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// organisation is a server of an account in which a service control policy
// denies machines without IMDSv2 or with disks in the clear.
type organisation struct {
	to     http.RoundTripper
	market *market.Market
	words  string
}

// RoundTrip is http.RoundTripper's.
func (o *organisation) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return o.to.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("Action") != "RunInstances" || o.meets(form.Get("LaunchTemplate.LaunchTemplateName")) {
		return o.to.RoundTrip(r)
	}
	return &http.Response{
		StatusCode: http.StatusForbidden, Status: "403 Forbidden", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: http.Header{"Content-Type": {"text/xml"}},
		Body: io.NopCloser(strings.NewReader("<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>" + o.words + "</Message></Error></Errors><RequestID>1</RequestID></Response>")),
	}, nil
}

// meets reports whether a launch template has what the policy demands.
func (o *organisation) meets(name string) bool {
	return slices.ContainsFunc(o.market.Templates(), func(t market.Template) bool {
		data := t.Latest().Data
		return t.Name == name && data.Metadata != nil && data.Metadata.Tokens == "required" &&
			len(data.Devices) > 0 && !slices.ContainsFunc(data.Devices, func(d market.Device) bool { return d.Encrypted == nil || !*d.Encrypted })
	})
}

// A class is tried out as it would be launched, with all that an account's rules
// may look at. Where they refuse it all the same, it is said which policy does and what to do.
func TestRulesOfTheAccount(t *testing.T) {
	credentials(t)
	const denied = "You are not authorized to perform this operation. User: x is not authorized to perform: ec2:RunInstances with an explicit deny in a service control policy"
	tests := map[string]struct {
		why    string
		change func(*nodeclass.Class)
		reason string
		says   string
	}{
		"Meets": {why: "Metadata options and disks are those of the class."},
		"Interfaces": {
			why:    "So they are where interfaces are listed one by one.",
			change: func(c *nodeclass.Class) { no := false; c.PublicIP = &no },
		},
		"Fails": {
			why:    "The class asks for what the policy forbids: allowing more to the role would not help.",
			change: func(c *nodeclass.Class) { c.Metadata.Tokens = "optional" },
			reason: awsv1.ReasonRunInstancesAuthFailed, says: "a policy denies it",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{t: t, change: tc.change}
				w.account()
				w.server = &organisation{w.server, w.account().Market, denied}
				got, err := w.start().Inspect(t.Context(), templateOf().Class)
				if err != nil {
					t.Fatal(err)
				}
				reason, says := "", ""
				if e := got.Broken[awsv1.ConditionValidationSucceeded]; e != nil {
					reason, says = e.Reason, e.Error()
				}
				if reason != tc.reason || !strings.Contains(says, tc.says) || !got.Tried {
					t.Errorf("%s Got %q: %s", tc.why, reason, says)
				}
				if left := w.account().Market.Templates(); len(left) > 0 {
					t.Errorf("%d launch templates of the trial are left", len(left))
				}
			})
		})
	}
}

// A profile that may not be looked at, in whatever words, is the class' trouble
// and shown there: a class of which that was never said would be launched from.
func TestProfileForbidden(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t}
		w.account().Rules.Add(fault.Rule{Action: "GetInstanceProfile", Kind: fault.Fail, Code: "PolicyOfTheHouse", Message: "ask the platform team", Status: http.StatusForbidden})
		got, err := w.start().Inspect(t.Context(), templateOf().Class)
		e := got.Broken[awsv1.ConditionInstanceProfileReady]
		if err != nil || e == nil || e.Code != cloud.Unauthorised || !strings.Contains(e.Error(), "ask the platform team") {
			t.Errorf("got %v, and the condition %v", err, e)
		}
	})
}

// A class is shown the same words at each look, whatever AWS puts into a refusal.
func TestDenialsStay(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t}
		w.account().Rules.Add(fault.Rule{Action: "DescribeSubnets", Kind: fault.Deny})
		d := w.start()
		var first string
		for i := range 3 {
			got, err := d.Inspect(t.Context(), templateOf().Class)
			e := got.Broken[awsv1.ConditionSubnetsReady]
			if err != nil || e == nil {
				t.Fatalf("got %v, and the condition %v", err, e)
			}
			if i == 0 {
				first = e.Error()
			}
			if e.Error() != first || strings.Contains(first, "Encoded") {
				t.Errorf("first it was %q, then %q", first, e.Error())
			}
		}
	})
}
