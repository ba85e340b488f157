package hold

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/world"
)

func TestNext(t *testing.T) {
	monday := func(clock string) int64 {
		at, err := time.Parse("2006-01-02 15:04", "2026-05-04 "+clock)
		if err != nil {
			t.Fatal(err)
		}
		return at.Unix()
	}
	const hour = 60 * 60
	open := world.Budget{Nodes: "10%"}
	office := world.Budget{Nodes: "0", Schedule: "0 9 * * mon-fri", Duration: 8 * hour}
	for name, tc := range map[string]struct {
		budgets []world.Budget
		at      int64
		when    int64
		allowed int
	}{
		"Always":      {[]world.Budget{open}, monday("08:00"), 0, 0},
		"Begins":      {[]world.Budget{open, office}, monday("08:30"), monday("09:00"), 0},
		"Ends":        {[]world.Budget{open, office}, monday("09:00"), monday("17:00"), 2},
		"EndsSoon":    {[]world.Budget{open, office}, monday("16:59") + 30, monday("17:00"), 2},
		"OneByOne":    {[]world.Budget{open, {Nodes: "0", Schedule: "0 9-16 * * *", Duration: hour}}, monday("10:30"), monday("17:00"), 2},
		"TooMany":     {[]world.Budget{open, {Nodes: "0", Schedule: "* 9-16 * * *", Duration: 60}}, monday("10:30"), 0, 0}, // no more than some hundred are looked at
		"TheNextDay":  {[]world.Budget{open, office}, monday("17:00"), monday("09:00") + 24*hour, 0},
		"TheNextWeek": {[]world.Budget{open, office}, monday("18:00") + 4*24*hour, monday("09:00") + 7*24*hour, 0},
		"OverAnother": {[]world.Budget{{Nodes: "0"}, office}, monday("08:00"), 0, 0},
		"OtherReason": {[]world.Budget{open, {Nodes: "0", Schedule: "@daily", Duration: hour, Reasons: []string{"Drifted"}}}, monday("08:00"), 0, 0},
		"EveryMinute": {[]world.Budget{open, {Nodes: "1", Schedule: "* * * * *", Duration: 60}}, monday("08:00"), 0, 0},
		"Unreadable":  {[]world.Budget{open, {Nodes: "1", Schedule: "now", Duration: 60}}, monday("08:00"), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if when, allowed := Next(tc.budgets, "Empty", 20, tc.at); when != tc.when || allowed != tc.allowed {
				t.Errorf("%s: %d; want %s: %d", time.Unix(when, 0).UTC(), allowed, time.Unix(tc.when, 0).UTC(), tc.allowed)
			}
		})
	}
}

// Minute by minute nothing changes before it, and it changes then.
func TestNextIsTheFirstChange(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		at := 1_777_852_800 + 60*rapid.Int64Range(0, 50_000).Draw(t, "minute")
		var budgets []world.Budget
		for range rapid.IntRange(1, 3).Draw(t, "budgets") {
			budgets = append(budgets, world.Budget{
				Nodes:    rapid.SampledFrom([]string{"0", "1", "3", "50%"}).Draw(t, "nodes"),
				Schedule: rapid.SampledFrom([]string{"", "0 9 * * *", "30 */6 * * *", "15 2 * * sat", "@hourly", "0 0 1 * *"}).Draw(t, "schedule"),
				Duration: 60 * rapid.Int64Range(1, 600).Draw(t, "duration"),
			})
		}
		when, allowed := Next(budgets, "Empty", 8, at)
		now := Allowed(budgets, "Empty", 8, at)
		for m := at + 60; m <= at+3*24*60*60; m += 60 {
			then := Allowed(budgets, "Empty", 8, m)
			switch {
			case m == when && (then != allowed || then == now):
				t.Fatalf("at %d there are %d, told %d, before %d", m, then, allowed, now)
			case m == when:
				return
			case then != now:
				t.Fatalf("at %d there are %d, and %d was told for %d", m, then, allowed, when)
			}
		}
	})
}
