package live

import (
	"testing"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
)

func TestBudgets(t *testing.T) {
	monday := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC).Unix()
	open := world.Budget{Nodes: "10%"}
	office := world.Budget{Nodes: "0", Schedule: "0 9 * * mon-fri", Duration: 8 * 60 * 60}
	for want, tc := range map[string]struct {
		budgets []world.Budget
		counts  counts
		at      int64
	}{
		"":                       {nil, counts{20, 0}, monday},
		"2 of 20 may go at once": {[]world.Budget{open}, counts{20, 0}, monday},
		"2 of 20 may go at once, 0 from Mon 09:00 UTC; 1 going or not ready":                                    {[]world.Budget{open, office}, counts{20, 1}, monday},
		"0 of 20 may go at once, 2 from Mon 17:00 UTC":                                                          {[]world.Budget{open, office}, counts{20, 0}, monday + 60*60},
		"Drifted: 0 of 20 may go at once; Empty: 2 of 20 may go at once; Underutilized: 2 of 20 may go at once": {[]world.Budget{open, {Nodes: "0", Reasons: []string{"Drifted"}}}, counts{20, 0}, monday},
		"3 of 3 may go at once": {[]world.Budget{{Nodes: "5"}}, counts{3, 0}, monday},
	} {
		p := &world.Pool{Disruption: world.PoolDisruption{Budgets: tc.budgets}}
		ws := windows{}
		if got := ws.of(p, tc.counts, tc.at); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if got := ws.of(p, counts{}, tc.at+59); len(tc.budgets) > 0 && got == want {
			t.Errorf("it is not told again of other machines: %q", got)
		}
	}
}
