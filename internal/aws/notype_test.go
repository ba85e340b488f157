package aws_test

import (
	"testing"
	"testing/synctest"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/fault"
)

// A type that EC2 says it does not have is left out, and the rest of the order is
// bought. Where EC2 does not say which it is, the order is not sent again and again.
func TestTypeThatIsNotSold(t *testing.T) {
	tests := map[string]struct {
		why, message string
		bought       int
		code         cloud.Code
	}{
		"Named":   {"The cheapest is not sold.", "The following supplied instance types do not exist: [c5.large]", 1, ""},
		"Unnamed": {"One of them is not.", "An instance type does not exist", 0, cloud.Invalid},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			credentials(t)
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{t: t}
				d := w.start()
				w.account().Rules.Add(fault.Rule{Action: "CreateFleet", Kind: fault.Fail, Code: "InvalidInstanceType.NotFound", Message: tc.message, Status: 400, Times: 1})
				out := d.Launch(t.Context(), []cloud.Order{order("one", 1, label.OnDemand)})[0]
				if len(out.Machines) != tc.bought || cloud.CodeOf(out.Err) != tc.code {
					t.Fatalf("%s %d machines, %v", tc.why, len(out.Machines), out.Err)
				}
				if tc.bought > 0 && out.Machines[0].Shape == "c5.large" {
					t.Errorf("%s It was bought", tc.why)
				}
			})
		})
	}
}
