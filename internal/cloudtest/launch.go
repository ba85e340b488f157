package cloudtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// launch wants as many machines as were ordered, each described in full.
func launch(t *testing.T, s Stage) {
	d := s.Start()
	o := s.Order("one", 3, label.OnDemand)
	out := one(t.Context(), d, o)
	whole(t, s, o, out)
	if !slices.IsSorted(ids(out.Machines)) {
		t.Errorf("machines are not in order: %v", ids(out.Machines))
	}
	for _, m := range out.Machines {
		switch {
		case m.Order != "one", m.CapacityType != label.OnDemand, !slices.Contains(s.Menu, m.Shape), m.Zone == "", m.ProviderID == "", m.Launched.IsZero():
			t.Errorf("a machine lacks something: %+v", m)
		case m.Labels[label.InstanceType] != m.Shape, m.Labels[label.Zone] != m.Zone, m.Labels[label.CapacityType] != m.CapacityType:
			t.Errorf("the labels of %s in %s are %v", m.Shape, m.Zone, m.Labels)
		case len(m.Capacity) == 0 || !o.Requests.Fits(m.Allocatable):
			t.Errorf("%s is said to give %v of %v", m.Shape, m.Allocatable, m.Capacity)
		case m.Tags["purpose"] != "law":
			t.Errorf("the order's tags are not on the machine: %v", m.Tags)
		}
	}
}

// sameToken wants the same machines for the same token: at once, later, and from another process.
func sameToken(t *testing.T, s Stage) {
	d := s.Start()
	o := s.Order("one", 3, label.Spot, label.OnDemand)
	first := one(t.Context(), d, o)
	whole(t, s, o, first)
	for name, again := range map[string]cloud.Driver{"the same process": d, "another process": s.Start()} {
		out := one(t.Context(), again, o)
		whole(t, s, o, out)
		if !slices.Equal(ids(out.Machines), ids(first.Machines)) {
			t.Errorf("%s got %v, first it was %v", name, ids(out.Machines), ids(first.Machines))
		}
	}
	time.Sleep(10 * time.Minute) // prices move and caches end
	whole(t, s, o, one(t.Context(), d, o))
	whole(t, s, o, one(t.Context(), s.Start(), o))
}

// twoCallers wants callers that send the same order at once to get the same machines.
func twoCallers(t *testing.T, s Stage) {
	d := s.Start()
	o := s.Order("one", 4, label.OnDemand)
	outs := make([]cloud.Outcome, 6)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() { outs[i] = one(t.Context(), d, o) })
	}
	wg.Go(func() { copy(outs[4:], d.Launch(t.Context(), []cloud.Order{o, o})) })
	wg.Wait()
	for _, out := range outs {
		whole(t, s, o, out)
	}
}

// manyOrders wants the answers of one call in the order of its orders.
func manyOrders(t *testing.T, s Stage) {
	d := s.Start()
	var orders []cloud.Order
	for i := range 30 {
		orders = append(orders, s.Order(fmt.Sprintf("order-%d", i), 1+i%3, label.OnDemand))
	}
	seen := map[cloud.MachineID]bool{}
	for i, out := range d.Launch(t.Context(), orders) {
		if out.Err != nil || len(out.Machines) != orders[i].Count {
			t.Fatalf("order %d of %d got %d machines, %v", i, orders[i].Count, len(out.Machines), out.Err)
		}
		for _, m := range out.Machines {
			if seen[m.ID] || m.Order != orders[i].Token {
				t.Errorf("machine %s of order %q was given to order %q", m.ID, m.Order, orders[i].Token)
			}
			seen[m.ID] = true
		}
	}
	if got := len(s.Running()); got != len(seen) {
		t.Errorf("%d machines run, %d were returned", got, len(seen))
	}
	if out := d.Launch(t.Context(), nil); len(out) != 0 {
		t.Errorf("no orders gave %v", out)
	}
}

// lostAnswer wants no machine bought twice when answers are lost, however long
// that lasts, and none forgotten when the process crashes meanwhile.
func lostAnswer(t *testing.T, s Stage) {
	for _, times := range []int{1, 100} {
		d := s.Start()
		had := len(s.Running())
		o := s.Order(fmt.Sprintf("lost-%d", times), 2, label.OnDemand)
		s.Fault(Buy, Lose, times)
		out := one(t.Context(), d, o)
		if out.Err != nil && len(out.Machines) > 0 {
			t.Errorf("it is not known what was bought, and yet part is returned: %v", ids(out.Machines))
		}
		s.Fault(Buy, Lose, 0)
		out = settled(t, d, o)
		if out.Err != nil || len(out.Machines) != 2 || len(s.Running()) != had+2 {
			t.Errorf("after %d lost answers order of 2 has %v, %v; %d machines run beside %d", times, ids(out.Machines), out.Err, len(s.Running()), had)
		}
	}
	o := s.Order("crashed", 2, label.OnDemand)
	had := len(s.Running())
	s.Fault(Buy, Lose, 100)
	one(t.Context(), s.Start(), o)
	s.Fault(Buy, Lose, 0)
	out := settled(t, s.Start(), o)
	if out.Err != nil || len(out.Machines) != 2 || len(s.Running()) != had+2 {
		t.Errorf("after a crash the order of 2 has %v, %v; %d machines run beside %d", ids(out.Machines), out.Err, len(s.Running()), had)
	}
}

// lostEverywhere loses one answer of every kind of call.
func lostEverywhere(t *testing.T, s Stage) {
	d := s.Start()
	for _, c := range []Call{Look, Buy, End} {
		s.Fault(c, Lose, 1)
	}
	o := s.Order("one", 2, label.OnDemand)
	whole(t, s, o, settled(t, d, o))
}

// lostCall wants a call that never arrived to be made again.
func lostCall(t *testing.T, s Stage) {
	d := s.Start()
	o := s.Order("one", 2, label.OnDemand)
	s.Fault(Buy, Drop, 100)
	if out := one(t.Context(), d, o); out.Err == nil {
		t.Fatalf("no call arrived, and the order has %v", ids(out.Machines))
	}
	s.Fault(Buy, Drop, 0)
	whole(t, s, o, settled(t, d, o))
}

// throttled wants throttling to delay and never to lose.
func throttled(t *testing.T, s Stage) {
	d := s.Start()
	s.Fault(Buy, Throttle, 2)
	s.Fault(Look, Throttle, 2)
	o := s.Order("one", 2, label.OnDemand)
	first := settled(t, d, o)
	whole(t, s, o, first)
	s.Fault(Buy, Throttle, 1_000)
	o = s.Order("two", 2, label.OnDemand)
	if out := one(t.Context(), d, o); cloud.CodeOf(out.Err) != cloud.Throttled || len(out.Machines) != 0 {
		t.Errorf("throttled for long it gave %v, %v", ids(out.Machines), out.Err)
	}
	s.Fault(Buy, Throttle, 0)
	out := settled(t, d, o)
	if out.Err != nil || len(out.Machines) != 2 || len(s.Running()) != 4 {
		t.Errorf("after throttling the order of 2 has %v, %v; %d machines run, want 4", ids(out.Machines), out.Err, len(s.Running()))
	}
}

// nextChoice wants the next shape in the same call when the first is sold out.
func nextChoice(t *testing.T, s Stage) {
	d := s.Start()
	last := s.Menu[len(s.Menu)-1]
	for _, shape := range s.Menu[:len(s.Menu)-1] {
		s.SellOut(shape, "", 0)
	}
	o := s.Order("one", 2, label.OnDemand)
	began := time.Now() //nolint:forbidigo // the law speaks of time itself: virtual or not
	out := one(t.Context(), d, o)
	whole(t, s, o, out)
	took := time.Since(began) //nolint:forbidigo // as above
	if out.Machines[0].Shape != last || took > 2*time.Second {
		t.Errorf("%s came after %s, want %s within 2s", out.Machines[0].Shape, took, last)
	}
}

// spotSoldOut wants on-demand in the same call where spot is gone and both will do, and only there.
func spotSoldOut(t *testing.T, s Stage) {
	d := s.Start()
	s.SellOut("", label.Spot, 0)
	none := settled(t, d, s.Order("spot", 1, label.Spot))
	if cloud.CodeOf(none.Err) != cloud.Capacity {
		t.Errorf("only spot will do and none is left, and yet: %v, %v", ids(none.Machines), none.Err)
	}
	if len(none.Refused) == 0 || slices.ContainsFunc(none.Refused, func(o cloud.Offer) bool {
		return !slices.Contains(s.Menu, o.Shape) || o.Zone == "" || o.CapacityType != label.Spot
	}) {
		t.Errorf("spot of every shape of the menu is refused, and what is reported as refused is %v", none.Refused)
	}
	o := s.Order("either", 2, label.Spot, label.OnDemand)
	out := settled(t, s.Start(), o)
	whole(t, s, o, out)
	if out.Machines[0].CapacityType != label.OnDemand {
		t.Errorf("got %s", out.Machines[0].CapacityType)
	}
}

// ownPrices wants what is cheapest by the prices that the order brings.
func ownPrices(t *testing.T, s Stage) {
	d := s.Start()
	c, err := d.Catalog(t.Context(), s.Template)
	if err != nil {
		t.Fatal(err)
	}
	o, last := s.Order("one", 2, label.OnDemand), s.Menu[len(s.Menu)-1]
	o.Prices = map[cloud.Offer]money.Micro{}
	for _, shape := range c.Shapes {
		for _, offer := range shape.Offers {
			if shape.Name == last {
				o.Prices[cloud.Offer{Shape: last, Zone: offer.Zone, CapacityType: offer.CapacityType}] = 1
			}
		}
	}
	out := settled(t, d, o)
	whole(t, s, o, out)
	if out.Machines[0].Shape != last {
		t.Errorf("%s came, and %s costs next to nothing by the order's own prices", out.Machines[0].Shape, last)
	}
	either := s.Order("either", 2, label.Spot, label.OnDemand)
	either.Prices = map[cloud.Offer]money.Micro{}
	for offer := range o.Prices {
		if offer.CapacityType == label.OnDemand {
			either.Prices[offer] = 1
		}
	}
	out = settled(t, d, either)
	if out.Err != nil || len(out.Machines) != 2 || out.Machines[0].CapacityType != label.OnDemand {
		t.Errorf("on-demand costs next to nothing by the order's own prices, and spot came: %+v, %v", out.Machines, out.Err)
	}
}

// partial wants what there is, and the reason for the rest; asked again, the same.
func partial(t *testing.T, s Stage) {
	d := s.Start()
	for _, shape := range s.Menu {
		s.SellOut(shape, "", 0)
	}
	s.SellOut(s.Menu[0], "", 2)
	o := s.Order("one", 5, label.OnDemand)
	first := settled(t, d, o)
	if cloud.CodeOf(first.Err) != cloud.Capacity || len(first.Machines) != 2 {
		t.Fatalf("2 are left, the order of 5 got %v, %v", ids(first.Machines), first.Err)
	}
	only(t, s, first.Machines)
	s.SellOut(s.Menu[1], "", -1)
	again := settled(t, d, o)
	if !slices.Equal(ids(again.Machines), ids(first.Machines)) || again.Err == nil {
		t.Errorf("the same token gave %v, %v, first it was %v", ids(again.Machines), again.Err, ids(first.Machines))
	}
	time.Sleep(time.Hour) // what was sold out is forgotten
	next := s.Order("two", 3, label.OnDemand)
	if out := settled(t, d, next); out.Err != nil || len(out.Machines) != 3 {
		t.Errorf("the rest was ordered again and gave %v, %v", ids(out.Machines), out.Err)
	}
}

// nothingLeft wants a capacity error in the provider's words when all is sold out.
func nothingLeft(t *testing.T, s Stage) {
	s.SellOut("", "", 0)
	out := settled(t, s.Start(), s.Order("one", 2, label.Spot, label.OnDemand))
	if cloud.CodeOf(out.Err) != cloud.Capacity || len(out.Machines) != 0 || out.Err.Error() == "" {
		t.Errorf("nothing is left, and yet: %v, %v", ids(out.Machines), out.Err)
	}
}

// crashAfterSoldOut wants an order whose first request bought a part, and whose
// next answer was lost with the process, to end with what it ordered.
func crashAfterSoldOut(t *testing.T, s Stage) {
	s.SellOut(s.Menu[0], "", 1)
	o := s.Order("one", 3, label.OnDemand)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	s.Fault(Buy, Lose, 100)
	one(ctx, s.Start(), o)
	s.Fault(Buy, Lose, 0)
	s.SellOut(s.Menu[0], "", -1)
	whole(t, s, o, settled(t, s.Start(), o))
}

// hidden wants machines that are not shown yet to be returned, and not to be bought again.
func hidden(t *testing.T, s Stage) {
	s.Hide(5 * time.Second)
	d := s.Start()
	o := s.Order("one", 3, label.OnDemand)
	first := settled(t, d, o)
	whole(t, s, o, first)
	for _, m := range first.Machines {
		if m.ProviderID == "" || m.Zone == "" || m.Shape == "" || len(m.Labels) == 0 {
			t.Errorf("a machine that is not shown yet is returned without what the answer said: %+v", m)
		}
	}
	whole(t, s, o, one(t.Context(), d, o))
	whole(t, s, o, settled(t, s.Start(), o))
}

// crashWhileHidden wants a new process, which finds another market and is not
// shown what the old one bought, to buy nothing beside it.
func crashWhileHidden(t *testing.T, s Stage) {
	s.Hide(8 * time.Second)
	o := s.Order("one", 3, label.OnDemand)
	s.Fault(Buy, Lose, 100)
	one(t.Context(), s.Start(), o)
	s.Fault(Buy, Lose, 0)
	s.SellOut(s.Menu[0], "", 0)
	d := s.Start()
	first := one(t.Context(), d, o)
	if first.Err != nil && len(first.Machines) > 0 && cloud.CodeOf(first.Err) != cloud.Capacity {
		t.Errorf("part of what may be more was returned: %v, %v", ids(first.Machines), first.Err)
	}
	whole(t, s, o, settled(t, d, o))
}

// notReady wants a class that cannot be used to be said, and nothing bought.
func notReady(t *testing.T, s Stage) {
	d := s.Start()
	s.Break()
	if _, err := d.Catalog(t.Context(), s.Template); cloud.CodeOf(err) != cloud.NotReady {
		t.Errorf("the catalogue of a broken class: %v", err)
	}
	if out := one(t.Context(), d, s.Order("one", 1, label.OnDemand)); cloud.CodeOf(out.Err) != cloud.NotReady || len(out.Machines) != 0 {
		t.Errorf("a broken class gave %v, %v", ids(out.Machines), out.Err)
	}
	only(t, s, nil)
}

// cancelled wants a call that was called off to end at once with an error.
func cancelled(t *testing.T, s Stage) {
	d := s.Start()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := s.Order("one", 1, label.OnDemand)
	if out := one(ctx, d, o); out.Err == nil {
		t.Errorf("it went on: %v", ids(out.Machines))
	}
	if _, err := d.List(ctx); err == nil {
		t.Error("the list went on")
	}
	whole(t, s, o, settled(t, d, o))
}
