package aws_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// When a class changes its role, the profile it had goes once no machine uses it.
// Profiles of others stay.
func TestProfilesLeftBehind(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		role := "KarpenterNodeRole-demo"
		w := &virtual{t: t, change: func(c *nodeclass.Class) { c.Role = role }}
		m := w.account().Market
		m.AddRole(market.Role{Name: "other"})
		d := w.start()
		old := d.Launch(t.Context(), []cloud.Order{order("one", 1, label.OnDemand)})[0]
		if old.Err != nil {
			t.Fatal(old.Err)
		}
		role = "other"
		pass := func(long time.Duration) []string {
			t.Helper()
			for range int(long / (10 * time.Minute)) {
				if _, err := d.Inspect(t.Context(), templateOf().Class); err != nil {
					t.Fatal(err)
				}
				if err := d.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Minute)
			}
			var roles []string
			for _, p := range m.Profiles("/karpenter/") {
				roles = append(roles, p.Roles...)
			}
			slices.Sort(roles)
			return roles
		}
		if diff := cmp.Diff([]string{"KarpenterNodeRole-demo", "other"}, pass(3*time.Hour)); diff != "" {
			t.Errorf("while a machine uses it: %s", diff)
		}
		d.Terminate(t.Context(), []cloud.MachineID{old.Machines[0].ID})
		if diff := cmp.Diff([]string{"other"}, pass(2*time.Hour)); diff != "" {
			t.Errorf("when it is gone: %s", diff)
		}
	})
}
