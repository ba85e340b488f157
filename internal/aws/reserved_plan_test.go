package aws_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// planned counts the machines of a plan by how they are paid for.
func planned(p plan.Plan) map[string]int {
	out := map[string]int{}
	for _, a := range p.New {
		out[a.CapacityType]++
	}
	return out
}

// A reservation goes from EC2 to plans and back: no plan, and no two, count on
// more machines than are left of it, those that it has are bought from it, and
// what somebody else was faster with is planned and bought elsewhere.
func TestReservedFromPlanToMachine(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := reserving(t, market.Reservation{ID: "cr-1", Type: "m5.large", Zone: "us-west-2b", Total: 3, Match: "targeted", Tags: market.Tags{"team": "a"}})
		b := world.NewBuilder()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		sells := cloud.New(cloud.Config{Driver: w.start(), Publish: func(c world.Catalog) { must(b.SetCatalog(c)) }})
		sells.Want(templateOf())
		sells.Refresh(t.Context())
		must(b.SetPool(world.Pool{
			ID: world.PoolID{Kind: world.NodePool, Name: "general"}, Template: templateOf().ID,
			Requirements: label.SetOf(label.Is(label.InstanceType, "m5.large"), label.Is(label.CapacityType, label.Reserved, label.OnDemand)),
		}))
		wait := func(b *world.Builder, from, to int) {
			for i := from; i < to; i++ {
				must(b.SetPod(world.Pod{
					Key: world.Key{Namespace: "d", Name: fmt.Sprintf("p%d", i)}, Waiting: true,
					Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: 1500}, amount.Entry{Name: amount.Pods, Value: amount.Unit}),
				}))
			}
		}
		wait(b, 0, 5)
		first := provision.Decide(b.Snapshot(0), provision.Options{})
		if diff := cmp.Diff(map[string]int{label.Reserved: 3, label.OnDemand: 2}, planned(first)); diff != "" {
			t.Fatalf("five machines, three of them reserved: -want +got\n%s", diff)
		}
		coming := enginetest.Carried(b.Snapshot(0), first, false).Edit()
		wait(coming, 5, 7)
		if diff := cmp.Diff(map[string]int{label.OnDemand: 2}, planned(provision.Decide(coming.Snapshot(0), provision.Options{}))); diff != "" {
			t.Errorf("the reservation is promised to claims on their way: -want +got\n%s", diff)
		}

		theirs := order("theirs", 1, label.Reserved)
		if out := w.start().Launch(t.Context(), []cloud.Order{theirs})[0]; out.Err != nil {
			t.Fatal(out.Err)
		}
		got, failed := map[string]int{}, 0
		for _, out := range sells.Launch(t.Context(), ordersOf(first)) {
			for _, m := range out.Machines {
				got[m.CapacityType+" "+m.Reservation]++
			}
			if out.Err != nil && cloud.CodeOf(out.Err) != cloud.Capacity {
				t.Error(out.Err)
			}
			if out.Err != nil {
				failed++
			}
		}
		if diff := cmp.Diff(map[string]int{"reserved cr-1": 2, "on-demand ": 2}, got); diff != "" || failed != 1 {
			t.Errorf("one of three was somebody else's, %d failed: -want +got\n%s", failed, diff)
		}

		for i := 1; i < 7; i++ {
			b.DeletePod(world.Key{Namespace: "d", Name: fmt.Sprintf("p%d", i)})
		}
		again := provision.Decide(b.Snapshot(1), provision.Options{})
		if diff := cmp.Diff(map[string]int{label.OnDemand: 1}, planned(again)); diff != "" {
			t.Errorf("nothing is left of the reservation, and the next plan knows: -want +got\n%s", diff)
		}
	})
}

// ordersOf asks for every machine of a plan by itself.
func ordersOf(p plan.Plan) []cloud.Order {
	out := make([]cloud.Order, len(p.New))
	for i, a := range p.New {
		out[i] = cloud.Order{
			Token: "order-" + a.Name, Template: templateOf(), Pool: a.Pool, Count: 1, Requirements: a.Requirements, Requests: a.Requests, Labels: a.Labels,
		}
		for _, c := range a.Menu {
			out[i].Menu = append(out[i].Menu, c.Shape)
		}
	}
	return out
}
