package hold_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// noon is a Thursday.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Unix()

func TestAllowed(t *testing.T) {
	day := world.Budget{Nodes: "0", Schedule: "0 9 * * mon-fri", Duration: 8 * 3600}
	tests := map[string]struct {
		why     string
		budgets []world.Budget
		total   int
		at      int64
		want    int
	}{
		"Share":      {"A share is rounded up (D-13).", []world.Budget{{Nodes: "10%"}}, 19, noon, 2},
		"One":        {"So a small pool may always lose one.", []world.Budget{{Nodes: "10%"}}, 1, noon, 1},
		"Tightest":   {"The tightest counts.", []world.Budget{{Nodes: "20%"}, {Nodes: "5"}}, 30, noon, 5},
		"OtherCause": {"A budget for other reasons says nothing.", []world.Budget{{Nodes: "0", Reasons: []string{"Drifted"}}, {Nodes: "3"}}, 30, noon, 3},
		"Working":    {"During the day nothing goes.", []world.Budget{day, {Nodes: "3"}}, 30, noon, 0},
		"Begin":      {"It begins with its minute.", []world.Budget{day, {Nodes: "3"}}, 30, noon - 3*3600, 0},
		"Evening":    {"It ends with its duration.", []world.Budget{day, {Nodes: "3"}}, 30, noon + 5*3600, 3},
		"Weekend":    {"On Saturday it does not begin.", []world.Budget{day, {Nodes: "3"}}, 30, noon + 48*3600, 3},
		"Broken":     {"What cannot be read lets nothing go.", []world.Budget{{Nodes: "some"}, {Nodes: "3"}}, 30, noon, 0},
		"BadTime":    {"Nor does a schedule that cannot be read.", []world.Budget{{Nodes: "3", Schedule: "61 * * * *", Duration: 60}}, 30, noon, 0},
		"Never":      {"A day that never comes is no reason to hang.", []world.Budget{{Nodes: "0", Schedule: "0 0 30 feb *", Duration: 1e9}, {Nodes: "3"}}, 30, noon, 3},
		"Macro":      {"Macros are schedules.", []world.Budget{{Nodes: "1", Schedule: "@daily", Duration: 13 * 3600}}, 30, noon, 1},
		"Sunday":     {"Seven is Sunday too.", []world.Budget{{Nodes: "1", Schedule: "0 12 * * 7", Duration: 60}, {Nodes: "9"}}, 30, noon + 72*3600, 1},
		"EitherDay":  {"With both kinds of day given either will do.", []world.Budget{{Nodes: "1", Schedule: "0 12 13 * thu", Duration: 60}, {Nodes: "9"}}, 30, noon, 1},
		"ThisCause":  {"One that names this reason counts.", []world.Budget{{Nodes: "1", Reasons: []string{"Drifted", "Empty"}}, {Nodes: "3"}}, 30, noon, 1},
		"Negative":   {"Less than none is not read.", []world.Budget{{Nodes: "-1"}, {Nodes: "3"}}, 30, noon, 0},
		"Unbounded":  {"Without a budget all may go.", nil, 30, noon, math.MaxInt},
		"NotYet":     {"It begins with its minute, and no second sooner.", []world.Budget{day, {Nodes: "3"}}, 30, noon - 3*3600 - 30, 3},
		"LastSecond": {"It ends with its last second.", []world.Budget{day, {Nodes: "3"}}, 30, noon + 5*3600 - 1, 0},
		"OtherDay":   {"With both kinds of day given the day of the month will do.", []world.Budget{{Nodes: "1", Schedule: "0 12 1 * fri", Duration: 60}, {Nodes: "9"}}, 30, noon, 1},
		"NoDay":      {"One of them has to be.", []world.Budget{{Nodes: "1", Schedule: "0 12 2 * fri", Duration: 60}, {Nodes: "9"}}, 30, noon, 9},
		"Any":        {"A question mark is a star: the other day alone decides.", []world.Budget{{Nodes: "1", Schedule: "0 12 ? * fri", Duration: 60}, {Nodes: "9"}}, 30, noon, 9},
		"AnyWeekday": {"So it is in the other field.", []world.Budget{{Nodes: "1", Schedule: "0 12 2 * ?", Duration: 60}, {Nodes: "9"}}, 30, noon, 9},
		"OtherMonth": {"The month has to be right.", []world.Budget{{Nodes: "1", Schedule: "0 12 1 2-12 *", Duration: 60}, {Nodes: "9"}}, 30, noon, 9},
		"HugeStep":   {"A step beyond the end leaves the beginning.", []world.Budget{{Nodes: "1", Schedule: "0 12 1/9223372036854775807 * *", Duration: 60}, {Nodes: "9"}}, 30, noon, 1},
		"Steps":      {"Steps start at the beginning of the range.", []world.Budget{{Nodes: "1", Schedule: "*/15 8-16/4 * * *", Duration: 60}, {Nodes: "9"}}, 30, noon + 45*60, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hold.Allowed(tc.budgets, plan.Empty, tc.total, tc.at); got != tc.want {
				t.Errorf("%d, want %d: %s", got, tc.want, tc.why)
			}
		})
	}
}

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
		"EveryOne":  {world.Budget{Nodes: "0", Schedule: "*/1 * * * *", Duration: 60}, ""},
		"NoStep":    {world.Budget{Nodes: "0", Schedule: "*/0 * * * *", Duration: 60}, `"*/0" has no step of at least 1`},
		"WordStep":  {world.Budget{Nodes: "0", Schedule: "*/two * * * *", Duration: 60}, `"*/two" has no step of at least 1`},
		"LongStep":  {world.Budget{Nodes: "0", Schedule: "*/99999999999999999999 * * * *", Duration: 60}, "has no step of at least 1"},
		"Backwards": {world.Budget{Nodes: "0", Schedule: "0 17-9 * * *", Duration: 60}, `"17-9" is not within 0 and 23`},
		"DayZero":   {world.Budget{Nodes: "0", Schedule: "0 0 0 * *", Duration: 60}, `"0" is not within 1 and 31`},
		"Negative":  {world.Budget{Nodes: "-1"}, `"-1"`},
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
