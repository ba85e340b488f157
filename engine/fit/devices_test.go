package fit_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// device is one that some selections accept.
func device(driver, name string, meets ...string) world.Device {
	return world.Device{Driver: driver, Name: name, Meets: meets}
}

// asks is a pod with a claim of that name for one device of a selection.
func asks(pod, claim, selection string, changes ...func(*world.Pod)) world.Pod {
	p := world.Pod{Key: world.Key{Namespace: "d", Name: pod}, Devices: []world.DeviceClaim{{
		Key: world.Key{Namespace: "d", Name: claim}, Requests: []world.DeviceRequest{{Name: "r", Options: []world.DeviceOption{{Selection: selection, Count: 1}}}},
	}}}
	for _, change := range changes {
		change(&p)
	}
	return p
}

// has gives the pod's claim devices of a node.
func has(node string) func(*world.Pod) {
	return func(p *world.Pod) { p.Devices[0].Allocated, p.Devices[0].Node = true, node }
}

func runs(node string) func(*world.Pod) { return func(p *world.Pod) { p.Node = node } }
func shared(p *world.Pod)               { p.Devices[0].Shared = true }

// A claim has its devices of one node; which pods can be given theirs beside others may not depend on who comes first.
func TestDevices(t *testing.T) {
	x, xy := device("a", "x", "x"), device("a", "xy", "x", "y")
	taken := device("a", "taken", "x")
	taken.Taken = true
	for name, tc := range map[string]struct {
		why     string
		devices []world.Device
		there   []world.Pod // put there before
		pod     world.Pod
		want    []reason.Code
	}{
		"Free":      {"There is one.", []world.Device{x}, nil, asks("p", "c", "x"), nil},
		"Other":     {"None is like that.", []world.Device{x}, nil, asks("p", "c", "z"), []reason.Code{reason.NoDevice}},
		"Taken":     {"Another claim has it.", []world.Device{taken}, nil, asks("p", "c", "x"), []reason.Code{reason.DeviceTaken}},
		"Here":      {"It has one of this node.", nil, nil, asks("p", "c", "x", has("n1")), nil},
		"Elsewhere": {"It has one of another.", []world.Device{x}, nil, asks("p", "c", "x", has("n2")), []reason.Code{reason.DeviceElsewhere}},
		"Leaves":    {"It leaves the one that it has where it runs.", []world.Device{x}, nil, asks("p", "c", "x", has("n2"), runs("n2")), nil},
		"Third":     {"It has one where it does not run.", []world.Device{x}, nil, asks("p", "c", "x", has("n3"), runs("n2")), []reason.Code{reason.DeviceElsewhere}},
		"Second":    {"The first pod has it.", []world.Device{x}, []world.Pod{asks("o", "b", "x")}, asks("p", "c", "x"), []reason.Code{reason.DeviceTaken}},
		"Alike":     {"Who asks for the same comes first or second.", []world.Device{x, xy}, []world.Pod{asks("o", "b", "x")}, asks("p", "c", "x"), nil},
		"Shared":    {"Both name one claim.", []world.Device{x}, []world.Pod{asks("o", "c", "x", shared)}, asks("p", "c", "x", shared), nil},
		"NotShared": {"Two claims of one name are two, if they are each a pod's own.", []world.Device{x}, []world.Pod{asks("o", "b", "x", shared)}, asks("p", "c", "x", shared), []reason.Code{reason.DeviceTaken}},
		"Orders":    {"Whoever comes first, both get theirs.", []world.Device{x, xy}, []world.Pod{asks("o", "b", "x")}, asks("p", "c", "y"), nil},
		"Reverse":   {"If it is bound before the first it takes what only that could do with.", []world.Device{xy, x}, []world.Pod{asks("o", "b", "y")}, asks("p", "c", "x"), []reason.Code{reason.DeviceTaken}},
		"Reversed":  {"Whatever the two are called.", []world.Device{xy, x}, []world.Pod{asks("q", "b", "y")}, asks("p", "c", "x"), []reason.Code{reason.DeviceTaken}},
		"OneOrder":  {"If the first is bound first it takes what only the second could do with.", []world.Device{xy, x}, []world.Pod{asks("o", "b", "x")}, asks("p", "c", "y"), []reason.Code{reason.DeviceTaken}},
		"OtherWay":  {"So it is the other way round.", []world.Device{xy, x}, []world.Pod{asks("q", "b", "x")}, asks("p", "c", "y"), []reason.Code{reason.DeviceTaken}},
	} {
		t.Run(name, func(t *testing.T) {
			at := fit.Place{Name: "n1", Labels: map[string]string{}, NodeDevices: fit.NodeDevices{Devices: tc.devices}}
			for i := range tc.there {
				at.Put(&tc.there[i])
			}
			var got []reason.Code
			for _, why := range fit.Objections(&tc.pod, &at) {
				got = append(got, why.Code)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
			if fits := fit.Fits(&tc.pod, &at); fits != (len(tc.want) == 0) {
				t.Errorf("%s Fits says %t", tc.why, fits)
			}
		})
	}
}

// The drivers of a place are those of the devices that pods are given, in whatever order they are bound.
func TestDrivers(t *testing.T) {
	taken := device("c", "taken", "x")
	taken.Taken = true
	at := fit.Place{Name: "n1", NodeDevices: fit.NodeDevices{Devices: []world.Device{taken, device("b", "xy", "x", "y"), device("a", "x", "x"), device("d", "free", "z"), device("b", "more", "y")}}}
	for _, p := range []world.Pod{asks("o", "b", "x"), asks("p", "c", "y")} {
		at.Put(&p)
	}
	if got := at.Drivers(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("they are of %v, want a and b", got)
	}
	node := world.Node{Devices: at.Devices}
	claims := func(p world.Pod) []*world.DeviceClaim { return []*world.DeviceClaim{&p.Devices[0]} }
	if got := fit.Given(&node, claims(asks("o", "b", "x"))); !slices.Equal(got, []int{1}) {
		t.Errorf("a claim is given %v, want the second", got)
	}
	if got := fit.Given(&node, claims(asks("o", "b", "none"))); got != nil {
		t.Errorf("a claim for what is not there is given %v", got)
	}
}

// A pool states devices by what a type is known to be.
func TestDevicesOf(t *testing.T) {
	template := func(key, value string, devices ...world.Device) world.DeviceTemplate {
		out := world.DeviceTemplate{Devices: devices}
		if key != "" {
			out.Requirements = label.SetOf(label.Is(key, value))
		}
		return out
	}
	shape := world.Shape{Name: "g5", Labels: label.SetOf(label.Is("family", "g"), label.Is("zone", "a", "b"), requirement(t, "size", label.NotIn, "8"))}
	for name, tc := range map[string]struct {
		why  string
		pool world.Pool
		want []string
	}{
		"None":   {"It states none.", world.Pool{}, nil},
		"Every":  {"Every type has it.", world.Pool{Devices: []world.DeviceTemplate{template("", "", device("d", "1"))}}, []string{"d/1"}},
		"Type":   {"Only this type has it.", world.Pool{Devices: []world.DeviceTemplate{template(label.InstanceType, "g5", device("d", "1")), template(label.InstanceType, "g6", device("d", "2"))}}, []string{"d/1"}},
		"Family": {"All types of its family have it.", world.Pool{Devices: []world.DeviceTemplate{template("family", "g", device("d", "1")), template("family", "m", device("d", "2"))}}, []string{"d/1"}},
		"Open":   {"In which zone it will be, and what size, is not known.", world.Pool{Devices: []world.DeviceTemplate{template("zone", "a", device("d", "1")), template("size", "8", device("d", "2"))}}, nil},
		"Pool":   {"The pool says so itself.", world.Pool{Labels: map[string]string{"team": "ml"}, Devices: []world.DeviceTemplate{template("team", "ml", device("d", "1"))}}, []string{"d/1"}},
		"Twice":  {"Of one device that two name the first counts; one of another driver is another.", world.Pool{Devices: []world.DeviceTemplate{template("", "", device("d", "1")), template("", "", device("d", "1"), device("e", "1"), device("d", "2"))}}, []string{"d/1", "e/1", "d/2"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range fit.DevicesOf(&tc.pool, &shape) {
				got = append(got, d.Driver+"/"+d.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// Claims that others may share, or that have devices, are told apart; those that are a pod's own are alike if they ask for the same.
func TestIdentitiesOfClaims(t *testing.T) {
	pods := []world.Pod{
		asks("a", "c", "x"), asks("a", "c", "y"), asks("a", "c", "x", shared), asks("a", "d", "x", shared), asks("a", "c", "x", has("n1")), asks("a", "c", "x", has("n2")), asks("a", "c", "x", has("n1"), runs("n1")),
		asks("a", "c", "x", func(p *world.Pod) { p.Devices[0].Requests[0].Options[0].Count = 2 }), asks("a", "c", "x", func(p *world.Pod) { p.Devices[0].Requests[0].Options[0].All = true }),
		asks("a", "c", "x", func(p *world.Pod) { p.Devices[0].Alike = []world.DeviceAlike{{Attribute: "numa"}} }),
	}
	for i := range pods {
		for j := range pods {
			if same := bytes.Equal(fit.AppendIdentity(nil, &pods[i]), fit.AppendIdentity(nil, &pods[j])); same != (i == j) {
				t.Errorf("pods %d and %d have one identity: %t", i, j, same)
			}
		}
	}
	own, other := asks("a", "a-gpu", "x"), asks("b", "b-gpu", "x")
	if !bytes.Equal(fit.AppendIdentity(nil, &own), fit.AppendIdentity(nil, &other)) {
		t.Error("pods with claims of their own that ask for the same are told apart")
	}
}
