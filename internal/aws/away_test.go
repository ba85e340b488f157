package aws_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/notice"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// While traffic is shifted away from a zone nothing is launched there; when the
// shift is over, machines are again. If it cannot be asked about, it goes on.
func TestZonalShift(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t, settings: func(s *aws.Settings) { s.ZonalShift = true }}
		m := w.account().Market
		d := w.start()
		sold := func() []string {
			t.Helper()
			c, err := d.Catalog(t.Context(), templateOf())
			if err != nil {
				t.Fatal(err)
			}
			var zones []string
			for _, o := range c.Shapes[0].Offers {
				if !o.Gone {
					zones = append(zones, o.Zone)
				}
			}
			slices.Sort(zones)
			return slices.Compact(zones)
		}
		all := sold()
		m.ShiftZone("us-west-2a", time.Now().Add(time.Hour))
		time.Sleep(time.Minute)
		if diff := cmp.Diff(all[1:], sold()); diff != "" {
			t.Errorf("shifted away from us-west-2a: %s", diff)
		}
		out := d.Launch(t.Context(), []cloud.Order{order("one", 4, label.OnDemand)})[0]
		if out.Err != nil || slices.ContainsFunc(out.Machines, func(m cloud.Machine) bool { return m.Zone == "us-west-2a" }) {
			t.Errorf("got %+v", out)
		}
		found, err := d.Inspect(t.Context(), templateOf().Class)
		if err != nil || len(found.Shifted) != 1 {
			t.Errorf("the class tells of %v, %v", found.Shifted, err)
		}
		w.account().Rules.Add(fault.Rule{Service: "arc-zonal-shift", Kind: fault.Fail})
		time.Sleep(10 * time.Minute)
		if diff := cmp.Diff(all[1:], sold()); diff != "" {
			t.Errorf("with the service away: %s", diff)
		}
		w.account().Rules.Remove(0)
		time.Sleep(time.Hour)
		if diff := cmp.Diff(all, sold()); diff != "" {
			t.Errorf("when it is over: %s", diff)
		}
	})
}

// A machine whose checks have failed for two minutes is told of; one that
// recovers, and one whose planned work is done, is not.
func TestChecks(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t}
		d := w.start()
		out := d.Launch(t.Context(), []cloud.Order{order("one", 4, label.OnDemand)})[0]
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		time.Sleep(5 * time.Minute) // so that they run
		m := w.account().Market
		id := func(i int) string { return string(out.Machines[i].ID) }
		look := func(checks *notice.Checks) map[string][]string {
			t.Helper()
			got := map[string][]string{}
			_, err := checks.Look(t.Context(), func(_ context.Context, n notice.Notice) error {
				got[string(n.Kind)] = append(got[string(n.Kind)], n.Instances...)
				return nil
			}, func(err error) { t.Error(err) })
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		checks := d.Checks()
		failed := errors.Join(
			m.Impair(id(0), true, false), m.Impair(id(1), false, true),
			m.Schedule(id(2), market.ScheduledEvent{ID: "e-1", Code: "instance-retirement", Description: "The instance is on old hardware", NotBefore: time.Now().Add(time.Hour)}),
			m.Schedule(id(3), market.ScheduledEvent{ID: "e-2", Code: "system-reboot", Description: "[Completed] done"}),
		)
		if failed != nil {
			t.Fatal(failed)
		}
		if diff := cmp.Diff(map[string][]string{"event_status": {id(2)}}, look(checks)); diff != "" {
			t.Errorf("at once: %s", diff)
		}
		time.Sleep(3 * time.Minute)
		want := map[string][]string{"event_status": {id(2)}, "instance_status": {id(0)}, "system_status": {id(1)}}
		if diff := cmp.Diff(want, look(checks)); diff != "" {
			t.Errorf("after three minutes: %s", diff)
		}
		if diff := cmp.Diff(want, look(d.Checks())); diff != "" {
			t.Errorf("to another process: %s", diff)
		}
		_ = m.Impair(id(0), false, false)
		if got := look(checks)["instance_status"]; len(got) != 0 {
			t.Errorf("%v has recovered", got)
		}
	})
}

// In a cluster whose services have IPv6 addresses, machines have one and are told so.
func TestIPv6(t *testing.T) {
	credentials(t)
	for family, want := range map[string]string{"AL2": "--ip-family ipv6", "AL2023": "cidr: fd12:3456:789a::/108", "Bottlerocket": "cluster-dns-ip = 'fd12:3456:789a::a'"} {
		t.Run(family, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{
					t: t, config: ipv6, change: func(c *nodeclass.Class) {
						c.Family, c.Images = family, []nodeclass.ImageSelector{{Alias: map[string]string{"AL2": "al2@latest", "AL2023": "al2023@latest", "Bottlerocket": "bottlerocket@latest"}[family]}}
					},
				}
				out := w.start().Launch(t.Context(), []cloud.Order{order("one", 1, label.OnDemand)})[0]
				if out.Err != nil {
					t.Fatal(out.Err)
				}
				i := w.account().Market.Instances()[0]
				if !i.Address6.IsValid() || len(i.Data.Interfaces) != 1 || i.Data.Interfaces[0].PrimaryIPv6 == nil || len(i.Data.Interfaces[0].Groups) == 0 {
					t.Errorf("it has the address %s and the interfaces %+v", i.Address6, i.Data.Interfaces)
				}
				if text := decoded(t, i.Data.UserData); !containsFold(text, want) {
					t.Errorf("its user data lacks %q:\n%s", want, text)
				}
			})
		})
	}
}

// Pods that ask for fabric adapters get a machine with all it has; others none.
func TestFabricAdapters(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t, sold: []string{"c5n", "p4d"}}
		d := w.start()
		ask := func(token, shape string, efas int64) market.Instance {
			t.Helper()
			o := order(token, 1, label.OnDemand)
			o.Menu = []string{shape}
			if efas > 0 {
				o.Requests = o.Requests.With("vpc.amazonaws.com/efa", efas*amount.Unit)
			}
			out := d.Launch(t.Context(), []cloud.Order{o})[0]
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			found, err := w.account().Market.Find([]string{string(out.Machines[0].ID)})
			if err != nil {
				t.Fatal(err)
			}
			return found[0]
		}
		kinds := func(i market.Instance) []string {
			var out []string
			for _, n := range i.Interfaces {
				out = append(out, n.Kind)
			}
			return out
		}
		if got := kinds(ask("none", "c5n.18xlarge", 0)); slices.Contains(got, "efa") {
			t.Errorf("no adapter was asked for: %v", got)
		}
		if diff := cmp.Diff([]string{"efa"}, kinds(ask("one", "c5n.18xlarge", 1))); diff != "" {
			t.Error(diff)
		}
		four := ask("four", "p4d.24xlarge", 4)
		if diff := cmp.Diff([]string{"efa", "efa", "efa", "efa"}, kinds(four)); diff != "" {
			t.Error(diff)
		}
		for i, n := range four.Interfaces {
			if n.Card != i || n.Device != min(i, 1) || len(n.Groups) == 0 {
				t.Errorf("interface %d is %+v", i, n)
			}
		}
	})
}
