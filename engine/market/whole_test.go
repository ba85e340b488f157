package market_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/world"
)

// What rules look at is known of a machine that is only planned, too: a field that package fit fills for
// machines that are there is a rule, or a cap, that plans ignore until the machine has been bought.
func TestPlannedPlacesAreWhole(t *testing.T) {
	missing := map[string]string{ // by field, why nothing is there
		"Name": "it has none yet", "Sealed": "its pods settle what is open", "Cordoned": "there is no node to cordon", "Deleting": "it is not there yet",
		"Attached": "no pod runs there", "Company": "plans count what daemon sets take as taken",
	}
	w := pricedPool(t)
	m := market.New(w, []string{amount.CPU}, market.Options{})
	at := reflect.ValueOf(*m.At(0))
	for _, f := range reflect.VisibleFields(at.Type()) {
		if len(f.Index) > 1 && at.Type().Field(f.Index[0]).Name != "Caps" {
			continue // of the devices some are there
		}
		name := f.Name
		_, excused := missing[name]
		switch empty := at.FieldByIndex(f.Index).IsZero(); {
		case empty && !excused:
			t.Errorf("a planned machine has no %s: fill it in pool.go or, if it is a cap, by CapsOf, or say here why not; if this pool says nothing of it, say it in pricedPool", name)
		case !empty && excused:
			t.Errorf("a planned machine has %s, though %s", name, missing[name])
		}
	}
}

// pricedPool is a World with one pool of which all is known, and one type.
func pricedPool(t *testing.T) *world.World {
	t.Helper()
	room := amount.Of(amount.Entry{Name: amount.CPU, Value: 4000}, amount.Entry{Name: amount.Pods, Value: 110_000})
	b := world.NewBuilder()
	if err := errors.Join(
		b.SetPool(world.Pool{
			ID: world.PoolID{Kind: world.NodePool, Name: "p"}, Template: "t", Requirements: label.SetOf(label.Is("team", "x", "y")), Taints: []world.Taint{{Key: "own", Effect: world.NoSchedule}},
			Devices: []world.DeviceTemplate{{Devices: []world.Device{{Driver: "gpu", Name: "a", Meets: []string{"g"}}}}},
		}),
		b.SetCatalog(world.Catalog{Template: "t", Shapes: []world.Shape{{
			Name: "small", Capacity: room, VolumeLimits: []world.DriverLimit{{Driver: "ebs", Count: 2}}, Labels: label.Exactly(map[string]string{label.InstanceType: "small"}),
			Offers: []world.Offer{{Zone: "a", CapacityType: label.Spot, Price: 1}},
		}}}),
		b.SetDaemonSet(world.DaemonSet{Key: world.Key{Namespace: "d", Name: "log"}, Pod: world.Pod{
			Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: 10}), Ports: []world.Port{{Port: 81}}, Tolerations: []world.Toleration{{Exists: true}},
		}}),
	); err != nil {
		t.Fatal(err)
	}
	return b.Snapshot(100)
}

// Two pools that differ in a field that plans depend on are not alike: what the second may buy would be
// taken from the first.
func TestFieldsTellPoolsApart(t *testing.T) {
	alike := map[string]string{ // by field, why pools that differ in it may be alike
		"ID": "names are told apart where something asks for them", "Labels": "as names are", "Requirements": "as names are, or by what they let the pool buy",
		"Template": "it has another catalogue", "Weight": "the heavier pool is the first", "Unhealthy": "it comes after others", "Limits": "for how many machines they have room is counted",
		"StartupTaints": "no pod has to tolerate them", "Devices": "where pods ask for devices no pools are alike", "Disruption": "nothing is bought by it",
		"Replicas": "pools with replicas are bought from by themselves", "Deleting": "nothing is bought", "NotReady": "nothing is bought",
	}
	of := reflect.TypeFor[world.Pool]()
	for i := range of.NumField() {
		w := enginetest.Open(2, 3)
		b := w.Edit()
		p := *w.Pools()[1]
		enginetest.Fill(reflect.ValueOf(&p).Elem().Field(i))
		name := of.Field(i).Name
		if _, excused := alike[name]; excused {
			continue
		}
		must(t, b.SetPool(p))
		w = b.Snapshot(1)
		for _, pool := range market.New(w, []string{amount.CPU}, market.Options{For: w.Waiting()}).Pools {
			if pool.Like() {
				t.Errorf("pools that differ in %s are alike: tell them apart in appendRough, like.go, or say here why they may be", name)
			}
		}
	}
}
