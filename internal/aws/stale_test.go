package aws_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/sim/fault"
)

// What cannot be asked again is used as it was, asked for again now and then and
// not at every launch, and told once: that it can be read again only when it can.
func TestStaleShelf(t *testing.T) {
	tests := map[string]struct {
		why, action, about string
		after              time.Duration // before the fault; what is known then is old
	}{
		"Types":      {"Types are described twice a day.", "DescribeInstanceTypes", "instance types", 13 * time.Hour},
		"Prices":     {"So are prices.", "GetProducts", "prices", 0},
		"SpotPrices": {"And those of spot.", "DescribeSpotPriceHistory", "prices", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			credentials(t)
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{t: t}
				d := w.start()
				look := func() {
					t.Helper()
					if c, err := d.Catalog(t.Context(), templateOf()); err != nil || len(c.Shapes) == 0 {
						t.Fatalf("%s %d shapes, %v", tc.why, len(c.Shapes), err)
					}
				}
				if tc.after > 0 {
					look()
					time.Sleep(tc.after)
				}
				before := w.calls(tc.action)
				rule := w.account().Rules.Add(fault.Rule{Action: tc.action, Kind: fault.Deny})
				for range 30 {
					look()
					time.Sleep(time.Second)
				}
				if n := w.calls(tc.action) - before; n > 2 {
					t.Errorf("%s %s was asked for %d times in half a minute", tc.why, tc.action, n)
				}
				broken, mended := tc.about+" cannot be read: ", tc.about+" can be read again"
				if !slices.ContainsFunc(w.said, func(s string) bool { return len(s) > len(broken) && s[:len(broken)] == broken }) || slices.Contains(w.said, mended) {
					t.Errorf("%s It was said %q", tc.why, w.said)
				}
				w.account().Rules.Remove(rule.ID)
				time.Sleep(11 * time.Minute)
				look()
				if !slices.Contains(w.said, mended) {
					t.Errorf("%s That it is mended was not said: %q", tc.why, w.said)
				}
			})
		})
	}
}
