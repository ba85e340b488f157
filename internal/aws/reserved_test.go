package aws_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/notice"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

const reservationID = "karpenter.k8s.aws/capacity-reservation-id"

// reserving is an account whose class selects the reservations of a team.
func reserving(t *testing.T, made ...market.Reservation) *virtual {
	t.Helper()
	w := &virtual{t: t, change: func(c *nodeclass.Class) {
		c.Reservations = []nodeclass.ReservationSelector{{Selector: nodeclass.Selector{Tags: []nodeclass.Tag{{Key: "team", Values: []string{"a"}}}}}}
	}}
	for _, r := range made {
		w.account().Market.AddReservation(r)
	}
	return w
}

func kinds(machines []cloud.Machine) map[string]int {
	out := map[string]int{}
	for _, m := range machines {
		out[m.CapacityType+" "+m.Shape+" "+m.Reservation]++
	}
	return out
}

// left is what a catalogue says is left of each reservation.
func left(c world.Catalog) map[string]int {
	out := map[string]int{}
	for _, s := range c.Shapes {
		for _, o := range s.Offers {
			if o.Reservation != "" {
				out[o.Reservation] = o.Count
			}
		}
	}
	return out
}

// What is reserved is used first; what it does not hold comes from elsewhere in the same call.
func TestReservedFirst(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		ours := market.Tags{"team": "a"}
		w := reserving(t,
			market.Reservation{ID: "cr-1", Type: "m5.large", Zone: "us-west-2b", Total: 2, Match: "targeted", Tags: ours},
			market.Reservation{ID: "cr-2", Type: "m5.large", Zone: "us-west-2c", Total: 9, Match: "targeted", Tags: market.Tags{"team": "b"}},
			market.Reservation{ID: "cr-3", Type: "m6g.large", Zone: "us-west-2c", Total: 1, Tags: ours},
		)
		d := w.start()
		c, err := d.Catalog(t.Context(), templateOf())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]int{"cr-1": 2, "cr-3": 1}, left(c)); diff != "" {
			t.Errorf("reservations on offer: %s", diff)
		}
		out := d.Launch(t.Context(), []cloud.Order{order("one", 3, label.Reserved, label.OnDemand)})[0]
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		if diff := cmp.Diff(map[string]int{"reserved m5.large cr-1": 2, "on-demand c5.large ": 1}, kinds(out.Machines)); diff != "" {
			t.Error(diff)
		}
		for _, m := range out.Machines {
			if m.Labels[reservationID] != m.Reservation || m.Labels[label.CapacityType] != m.CapacityType {
				t.Errorf("%s of reservation %q has labels %v", m.ID, m.Reservation, m.Labels)
			}
		}
		after, err := d.Catalog(t.Context(), templateOf())
		if err != nil || after.Version == c.Version || left(after)["cr-1"] != 0 {
			t.Errorf("used up, the reservation is offered as %v in version %q after %q, %v", left(after), after.Version, c.Version, err)
		}
		if out := d.Launch(t.Context(), []cloud.Order{order("two", 1, label.Reserved)})[0]; cloud.CodeOf(out.Err) != cloud.Capacity {
			t.Errorf("nothing reserved is left for this menu, and yet: %v, %v", kinds(out.Machines), out.Err)
		}
		found, err := d.List(t.Context())
		if err != nil || kinds(found)["reserved m5.large cr-1"] != 2 {
			t.Errorf("the list shows %v, %v", kinds(found), err)
		}
		d.Terminate(t.Context(), []cloud.MachineID{out.Machines[0].ID, out.Machines[1].ID, out.Machines[2].ID})
		time.Sleep(3 * time.Minute)
		if c, err = d.Catalog(t.Context(), templateOf()); err != nil || left(c)["cr-1"] != 2 {
			t.Errorf("given back, the reservation is offered as %v, %v", left(c), err)
		}
		w.account().Market.AddReservation(market.Reservation{ID: "cr-4", Type: "m5.large", Zone: "us-west-2b", Total: 1, Match: "targeted", Tags: ours})
		d.Freed()
		if c, err = d.Catalog(t.Context(), templateOf()); err != nil || left(c)["cr-4"] != 1 {
			t.Errorf("when a machine has ended, what there is now is offered as %v, %v", left(c), err)
		}
	})
}

// Another process uses a reservation up between a look and a launch.
func TestReservationUsedUpByOthers(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := reserving(t, market.Reservation{ID: "cr-1", Type: "m5.large", Zone: "us-west-2b", Total: 2, Match: "targeted", Tags: market.Tags{"team": "a"}})
		d, other := w.start(), w.start()
		if _, err := d.Catalog(t.Context(), templateOf()); err != nil {
			t.Fatal(err)
		}
		if out := other.Launch(t.Context(), []cloud.Order{order("theirs", 2, label.Reserved)})[0]; out.Err != nil {
			t.Fatal(out.Err)
		}
		out := d.Launch(t.Context(), []cloud.Order{order("ours", 1, label.Reserved, label.OnDemand)})[0]
		if diff := cmp.Diff(map[string]int{"on-demand c5.large ": 1}, kinds(out.Machines)); diff != "" || out.Err != nil {
			t.Errorf("%v\n%s", out.Err, diff)
		}
	})
}

// A capacity block is bought as such, and only where nothing that lasts is reserved.
func TestCapacityBlock(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		ours := market.Tags{"team": "a"}
		w := reserving(t, market.Reservation{
			ID: "cr-b", Type: "m5.large", Zone: "us-west-2b", Total: 1, Kind: "capacity-block", Match: "targeted", Tags: ours, End: time.Now().Add(time.Hour),
		})
		d := w.start()
		o := order("one", 1, label.Reserved)
		o.Requirements = o.Requirements.And(label.Is("karpenter.k8s.aws/capacity-reservation-type", "capacity-block"))
		out := d.Launch(t.Context(), []cloud.Order{o})[0]
		if out.Err != nil || len(out.Machines) != 1 || out.Machines[0].Reservation != "cr-b" {
			t.Fatalf("got %+v", out)
		}
		time.Sleep(2 * time.Hour)
		c, err := d.Catalog(t.Context(), templateOf())
		if err != nil || len(left(c)) != 0 {
			t.Errorf("the block has ended and is offered as %v, %v", left(c), err)
		}
	})
}

// A reservation that can be taken back is a market of its own, used where nothing else is reserved.
func TestInterruptibleReservation(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		ours := market.Tags{"team": "a"}
		w := reserving(t,
			market.Reservation{ID: "cr-i", Type: "m5.large", Zone: "us-west-2b", Total: 1, Match: "targeted", Tags: ours, Interruptible: true},
			market.Reservation{ID: "cr-l", Type: "m5.large", Zone: "us-west-2b", Total: 1, Match: "targeted", Tags: ours},
		)
		d := w.start()
		out := d.Launch(t.Context(), []cloud.Order{order("one", 2, label.Reserved)})[0]
		if diff := cmp.Diff(map[string]int{"reserved m5.large cr-i": 1, "reserved m5.large cr-l": 1}, kinds(out.Machines)); diff != "" || out.Err != nil {
			t.Fatalf("%v\n%s", out.Err, diff)
		}
		for _, m := range out.Machines {
			if got, want := m.Labels["karpenter.k8s.aws/capacity-reservation-interruptible"], map[string]string{"cr-i": "true", "cr-l": "false"}[m.Reservation]; got != want {
				t.Errorf("the machine in %s says %q of whether it can be taken back, want %q", m.Reservation, got, want)
			}
		}
	})
}

// Fifty minutes before a capacity block ends it is offered no more, so that no pods are moved there for minutes; ten
// minutes later its machines are told to leave, once for all looks.
func TestCapacityBlockEnds(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		ours := market.Tags{"team": "a"}
		w := reserving(t,
			market.Reservation{ID: "cr-b", Type: "m5.large", Zone: "us-west-2b", Total: 2, Kind: "capacity-block", Match: "targeted", Tags: ours, End: time.Now().Add(time.Hour)},
			market.Reservation{ID: "cr-c", Type: "c5.large", Zone: "us-west-2b", Total: 1, Kind: "capacity-block", Match: "targeted", Tags: ours, End: time.Now().Add(5 * time.Hour)},
		)
		d := w.start()
		ending := func() (out []string) {
			t.Helper()
			_, err := d.Ending(t.Context(), func(_ context.Context, n notice.Notice) error {
				if !n.Kind.Going() || n.Kind.Forced() || n.Kind.Event() == "" {
					t.Errorf("the notice %s has to let machines drain, and tell people", n.Kind)
				}
				out = append(out, n.Instances...)
				return nil
			}, func(err error) { t.Error(err) })
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		offered := func() (out []string) {
			t.Helper()
			c, err := d.Catalog(t.Context(), templateOf())
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range c.Shapes {
				for _, o := range s.Offers {
					if o.Reservation != "" && !o.Gone {
						out = append(out, o.Reservation)
					}
				}
			}
			return out
		}
		order := func(token, shape string) cloud.Order {
			o := order(token, 1, label.Reserved)
			o.Menu = []string{shape}
			return o
		}
		first, other := d.Launch(t.Context(), []cloud.Order{order("one", "m5.large")})[0], d.Launch(t.Context(), []cloud.Order{order("two", "c5.large")})[0]
		if first.Err != nil || other.Err != nil {
			t.Fatal(first.Err, other.Err)
		}
		if got := offered(); !slices.Equal(got, []string{"cr-b"}) {
			t.Errorf("an hour before its end the block is offered as %q", got)
		}
		if got := ending(); len(got) > 0 {
			t.Errorf("an hour before its end the block has to be left by %q", got)
		}
		time.Sleep(10*time.Minute + time.Second)
		if got := offered(); len(got) > 0 {
			t.Errorf("fifty minutes before its end the block is offered as %q", got)
		}
		if got := ending(); len(got) > 0 {
			t.Errorf("fifty minutes before its end the block has to be left by %q", got)
		}
		time.Sleep(10 * time.Minute)
		if out := d.Launch(t.Context(), []cloud.Order{order("three", "m5.large")})[0]; cloud.CodeOf(out.Err) != cloud.Capacity {
			t.Errorf("forty minutes before its end the block gave %v, %v", kinds(out.Machines), out.Err)
		}
		if got, want := ending(), []string{string(first.Machines[0].ID)}; !slices.Equal(got, want) {
			t.Errorf("forty minutes before its end the block has to be left by %q, want %q", got, want)
		}
		d.Terminate(t.Context(), []cloud.MachineID{first.Machines[0].ID})
		time.Sleep(time.Minute)
		if got := ending(); len(got) > 0 {
			t.Errorf("the machine is gone, and %q have to leave", got)
		}
	})
}

// The class' status names its reservations, and those that are about to end.
func TestInspectReservations(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		ours := market.Tags{"team": "a"}
		soon := time.Now().Add(30 * time.Minute)
		w := reserving(t,
			market.Reservation{ID: "cr-1", Type: "m5.large", Zone: "us-west-2b", Total: 2, Match: "targeted", Tags: ours},
			market.Reservation{ID: "cr-b", Type: "m5.large", Zone: "us-west-2b", Total: 1, Kind: "capacity-block", Match: "targeted", Tags: ours, End: soon},
		)
		got, err := w.start().Inspect(t.Context(), templateOf().Class)
		if err != nil {
			t.Fatal(err)
		}
		want := []awsv1.CapacityReservation{
			{
				ID: "cr-1", AvailabilityZone: "us-west-2b", InstanceType: "m5.large", InstanceMatchCriteria: "targeted",
				OwnerID: "123456789012", ReservationType: "default", State: "active",
			},
			{
				ID: "cr-b", AvailabilityZone: "us-west-2b", InstanceType: "m5.large", InstanceMatchCriteria: "targeted",
				OwnerID: "123456789012", ReservationType: "capacity-block", State: "expiring", EndTime: &metav1.Time{Time: soon},
			},
		}
		if diff := cmp.Diff(want, got.Reservations); diff != "" {
			t.Error(diff)
		}
	})
}
