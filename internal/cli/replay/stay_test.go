package replay

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
)

// A machine that stays for two reasons is one that stays.
func TestMachinesThatStayAreCountedOnce(t *testing.T) {
	d := decision{plan: plan.Plan{Kept: []plan.Kept{
		{Claim: "a", Reason: plan.Empty, Why: &reason.Why{Code: reason.Budget}},
		{Claim: "a", Reason: plan.Underutilized, Why: &reason.Why{Code: reason.Empty}},
		{Claim: "b", Reason: plan.Underutilized, Why: &reason.Why{Code: reason.NotCheaper}},
	}}}
	if text := d.text("", false); !strings.Contains(text, "2 stay") {
		t.Errorf("it says %q", text)
	}
}
