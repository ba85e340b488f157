package market_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// A market that is kept as JSON and put into another process is the same market: machines go on from where they were,
// nothing they hold is given twice.
func TestAMarketOutlivesItsProcess(t *testing.T) {
	before, c, subnet := small(t, nil)
	request := func() market.FleetRequest {
		return ask(3, market.Spot, market.Override{Type: "m5.large", Subnet: subnet["cn-north-1a"]})
	}
	got, err := before.CreateFleet(request())
	if err != nil {
		t.Fatal(err)
	}
	ids := got.Launched[0].IDs
	c.pass(time.Minute)
	if err := before.Tag(ids[:1], market.Tags{"a": "b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := before.Terminate(ids[1:2]); err != nil {
		t.Fatal(err)
	}
	if err := before.Kill(ids[2]); err != nil {
		t.Fatal(err)
	}
	if _, err := before.CreateFleet(request()); err != nil {
		t.Fatal(err)
	}
	kept, version := before.Keep()
	if version != before.Version() {
		t.Errorf("version %d was kept as %d", before.Version(), version)
	}
	text, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}

	after, later, _ := small(t, nil)
	var heard story
	after.Observe(heard.observer())
	later.at = c.at
	var again market.Kept
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if lost := after.Restore(again); len(lost) > 0 {
		t.Errorf("machines without a subnet: %v", lost)
	}
	if diff := cmp.Diff(before.Instances(), after.Instances(), cmpopts.IgnoreUnexported(market.Instance{}), cmpopts.EquateComparable(before.Instances()[0].Address), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("machines: -kept +restored\n%s", diff)
	}
	for k, s := range after.Subnets() {
		if free := before.Subnets()[k].Free; s.Free != free {
			t.Errorf("subnet %s has %d free addresses, had %d", s.ID, s.Free, free)
		}
	}
	more, err := after.CreateFleet(request())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range kept.Instances {
		if slices.Contains(more.Launched[0].IDs, i.ID) {
			t.Errorf("two machines are called %s", i.ID)
		}
	}
	for range 100 {
		after.Tick()
		if at, more := after.Next(); more && at.Before(c.at.Add(time.Minute)) {
			later.at = at
		}
	}
	states := map[market.State]int{}
	for _, i := range after.Instances() {
		states[i.State]++
	}
	if diff := cmp.Diff(map[market.State]int{market.Running: 7, market.Terminated: 2}, states); diff != "" {
		t.Errorf("a minute later: -want +got\n%s\n%v", diff, heard.lines)
	}
	if _, err := after.Terminate(ids[:1]); err != nil {
		t.Error(err)
	}
}

func TestMachinesOfAnotherRegionAreNotRestored(t *testing.T) {
	m, _, _ := small(t, nil)
	lost := m.Restore(market.Kept{Instances: []market.Instance{{ID: "i-01", Type: "m5.large", Subnet: "subnet-of-another"}}})
	if len(lost) != 1 || len(m.Instances()) != 0 {
		t.Errorf("lost %v, has %v", lost, m.Instances())
	}
}
