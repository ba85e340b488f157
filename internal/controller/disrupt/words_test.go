package disrupt

import (
	"testing"
	"time"

	"github.com/tenon-sh/tenon/engine/plan"
)

// Of two waits the shorter counts; zero is no end to wait for.
func TestSoonest(t *testing.T) {
	for _, tc := range []struct{ a, b, want time.Duration }{
		{0, 0, 0},
		{0, time.Second, time.Second},
		{time.Second, 0, time.Second},
		{time.Second, time.Minute, time.Second},
		{time.Minute, time.Second, time.Second},
	} {
		if got := soonest(tc.a, tc.b); got != tc.want {
			t.Errorf("of %s and %s the soonest is %s, want %s", tc.a, tc.b, got, tc.want)
		}
	}
}

// Metrics call a consolidation and a decision as Karpenter's do.
func TestWordsOfMetrics(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		many     bool
		kind     string
		bought   bool
		decision string
	}{
		{plan.Underutilized, false, "single", false, "delete"},
		{plan.Underutilized, true, "multi", true, "replace"},
		{plan.Empty, true, "", false, "delete"},
		{plan.Drifted, false, "", true, "replace"},
	} {
		if got := kindOf(tc.reason, tc.many); got != tc.kind {
			t.Errorf("%s of many (%t) is called %q, want %q", tc.reason, tc.many, got, tc.kind)
		}
		if got := decisionOf(tc.bought); got != tc.decision {
			t.Errorf("a decision that bought (%t) is called %q, want %q", tc.bought, got, tc.decision)
		}
	}
}
