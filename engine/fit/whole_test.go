package fit_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// stages are the machines of one type of which a place is made.
const (
	onItsWay = "a claim without a node"
	joining  = "a node that is still forming"
	complete = "a complete node"
)

// What rules look at is known of a machine at each stage of its life: a field that
// is filled for complete nodes only is a rule, or a cap, that machines on their way
// ignore until it is too late.
func TestPlacesAreWhole(t *testing.T) {
	missing := map[string]map[string]string{ // by field and stage, why nothing is there
		"Planned":  {joining: "the node has a name", complete: "the node has a name"},
		"Sealed":   {joining: "the node has its labels", complete: "the node has its labels"},
		"Open":     {joining: "the node has its labels", complete: "the node has its labels"},
		"Cordoned": {onItsWay: "there is no node to cordon"},
		"Attached": {onItsWay: "no pod runs where there is no node"},
	}
	places := map[string]fit.Place{onItsWay: stage(t, onItsWay), joining: stage(t, joining), complete: stage(t, complete)}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[fit.Place]()) {
		if !f.IsExported() || f.Anonymous && f.Name == "Caps" || len(f.Index) > 1 && f.Index[0] == devicesField(t) {
			continue // of NodeDevices some are there at each stage, and of Caps all
		}
		for at, place := range places {
			name := f.Name
			_, excused := missing[name][at]
			switch empty := reflect.ValueOf(place).FieldByIndex(f.Index).IsZero(); {
			case empty && !excused:
				t.Errorf("%s has no %s: fill it in of.go or, if it is a cap, in caps.go, or say here why not; if this World says nothing of it, say it in stage", at, name)
			case !empty && excused:
				t.Errorf("%s has %s, though %s", at, name, missing[name][at])
			}
		}
	}
}

// devicesField is where the NodeDevices stand in a Place.
func devicesField(t *testing.T) int {
	t.Helper()
	f, ok := reflect.TypeFor[fit.Place]().FieldByName("NodeDevices")
	if !ok {
		t.Fatal("a Place has no NodeDevices")
	}
	return f.Index[0]
}

// stage is a machine of which all is known that can be at that stage.
func stage(t *testing.T, at string) fit.Place {
	t.Helper()
	w := staged(t, at)
	if at == onItsWay {
		return fit.Of(w, w.Place("c"))
	}
	return fit.Of(w, w.Place("n"))
}

// staged is a World with that machine: node n, or claim c without a node.
func staged(t *testing.T, at string) *world.World {
	t.Helper()
	pool, id := world.PoolID{Kind: world.NodePool, Name: "p"}, label.Is(label.InstanceType, "small", "large")
	room := amount.Of(amount.Entry{Name: amount.CPU, Value: 4000}, amount.Entry{Name: amount.Pods, Value: 110_000})
	shape := func(name string) world.Shape {
		return world.Shape{
			Name: name, Capacity: room, VolumeLimits: []world.DriverLimit{{Driver: "ebs", Count: 2}},
			Labels: label.Exactly(map[string]string{label.InstanceType: name}),
		}
	}
	taints := []world.Taint{{Key: "own", Effect: world.NoSchedule}}
	claim := world.Claim{Name: "c", Pool: pool, Template: "t", Requirements: label.SetOf(id), Taints: taints, Deleting: true, Drivers: []string{"gpu"}}
	devices := []world.Device{{Driver: "gpu", Name: "a", Meets: []string{"g"}}}
	node := world.Node{
		Name: "n", Claim: "c", Pool: pool, Allocatable: room, Capacity: room, Taints: taints, Cordoned: true, Deleting: true, Ready: true,
		Labels: map[string]string{label.NodePool: "p", label.InstanceType: "small"}, Devices: devices, DevicesLost: []world.DevicePool{{Driver: "nic"}},
	}
	used := world.Pod{
		Key: world.Key{Namespace: "d", Name: "used"}, Node: "n", Requests: cpu(100), Ports: []world.Port{{Port: 80}}, Volumes: []world.Volume{{ID: "v", Driver: "ebs"}},
		Devices: []world.DeviceClaim{{Key: world.Key{Name: "c"}, Allocated: true, Node: "n", Requests: []world.DeviceRequest{{Options: []world.DeviceOption{{Selection: "g", Count: 1}}}}}},
	}
	daemon := world.DaemonSet{Key: world.Key{Namespace: "d", Name: "log"}, Pod: world.Pod{Requests: cpu(10), Ports: []world.Port{{Port: 81}}, Tolerations: []world.Toleration{{Exists: true}}}}
	b := world.NewBuilder()
	errs := []error{b.SetPool(world.Pool{ID: pool, Template: "t", Devices: []world.DeviceTemplate{{Devices: devices}}}), b.SetCatalog(world.Catalog{Template: "t", Shapes: []world.Shape{shape("small"), shape("large")}}), b.SetDaemonSet(daemon)}
	switch at {
	case onItsWay:
		used.Node = ""
	case joining:
		claim.Node, claim.Launched, claim.Registered = "n", true, true
	case complete:
		claim.Node, claim.Launched, claim.Registered, claim.Initialized = "n", true, true, true
		node.Labels[label.Initialized] = "true"
		node.VolumeLimits = []world.DriverLimit{{Driver: "ebs", Count: 3}}
	}
	errs = append(errs, b.SetClaim(claim), b.SetPod(used))
	if at != onItsWay {
		errs = append(errs, b.SetNode(node))
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return b.Snapshot(100)
}
