package hold_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// What cannot be read lets nothing go, and is said.
func TestUnreadable(t *testing.T) {
	tests := map[string]struct {
		budget world.Budget
		want   string // part of what is said; empty: nothing
	}{
		"Number":    {world.Budget{Nodes: "3"}, ""},
		"Share":     {world.Budget{Nodes: "100%"}, ""},
		"Nightly":   {world.Budget{Nodes: "0", Schedule: "0 22 * * mon-fri", Duration: 8 * 3600}, ""},
		"Macro":     {world.Budget{Nodes: "0", Schedule: "@daily", Duration: 60}, ""},
		"Hour25":    {world.Budget{Nodes: "0", Schedule: "0 25 * * *", Duration: 60}, `schedule "0 25 * * *": "25" is not within 0 and 23`},
		"FourParts": {world.Budget{Nodes: "0", Schedule: "0 1 * *", Duration: 60}, "has 4 fields, want 5"},
		"TooMuch":   {world.Budget{Nodes: "101%"}, `"101%"`},
		"NoNumber":  {world.Budget{Nodes: "few"}, `"few"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(hold.Unreadable([]world.Budget{tc.budget}), "; ")
			if (got != "") != (tc.want != "") || !strings.Contains(got, tc.want) {
				t.Errorf("it says %q, want %q", got, tc.want)
			}
			if allowed := hold.Allowed([]world.Budget{tc.budget}, plan.Empty, 10, 0); got != "" && allowed != 0 {
				t.Errorf("%d nodes may go by a budget that cannot be read", allowed)
			}
		})
	}
}

// A window may be as long as a number can be, and its schedule never come up: both
// are looked up in bounded time.
func TestScheduleThatNeverComesUp(t *testing.T) {
	for _, schedule := range []string{"0 0 30 2 *", "0 0 31 4,6,9,11 *"} {
		all := []world.Budget{{Nodes: "0", Schedule: schedule, Duration: math.MaxInt64 / 4}}
		if allowed := hold.Allowed(all, plan.Empty, 10, 1_800_000_000); allowed < 10 {
			t.Errorf("by %q %d of 10 may go although it never comes up", schedule, allowed)
		}
		if when, _ := hold.Next(all, plan.Empty, 10, 1_800_000_000); when != 0 {
			t.Errorf("%q never comes up, and is said to at %d", schedule, when)
		}
	}
	leap := []world.Budget{{Nodes: "0", Schedule: "0 0 29 2 *", Duration: 8 * 366 * 24 * 3600}}
	if allowed := hold.Allowed(leap, plan.Empty, 10, 1_800_000_000); allowed != 0 {
		t.Errorf("a window of eight years began on a 29 February, and %d may go", allowed)
	}
}
