package fit_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/world"
)

// What a pod takes of a place is the same whether it runs there or is put there in a plan, is taken back
// with all else that was put there, and leaves other places alone that were copied of the same one.
func TestTakingIsWhole(t *testing.T) {
	runs, pod := stageOf(t, complete, true)
	empty, _ := stageOf(t, complete, false)
	was := reflect.ValueOf(*empty.Copy())
	put := empty.Copy()
	put.Put(pod)
	taken := differing(reflect.ValueOf(empty), reflect.ValueOf(*put))
	if len(taken) < 3 {
		t.Fatalf("a pod takes only %v", taken)
	}
	if by := differing(reflect.ValueOf(empty), reflect.ValueOf(runs)); !slices.Equal(by, taken) {
		t.Errorf("a pod that runs there takes %v, and one that is put there %v: fill what counts it in of.go, and change it in Take, place.go, or in take, caps.go", by, taken)
	}
	if changed := differing(was, reflect.ValueOf(empty)); len(changed) > 0 {
		t.Errorf("%v changed of the place that was copied: have Copy, place.go, or takenAs, caps.go, make a copy of it", changed)
	}
	put.TakenAs(&empty)
	if left := differing(reflect.ValueOf(empty), reflect.ValueOf(*put)); !slices.Equal(left, []string{"Free"}) { // which its callers count themselves
		t.Errorf("%v are as if the pod were still there: have TakenAs, place.go, or takenAs, caps.go, take it back", left)
	}
}

// What a pod takes it takes whichever of its fields says so: a pod that runs somewhere takes as much as one that is put there,
// though it has no ports, volumes or devices.
func TestEachPodTakesWhatItRunsWith(t *testing.T) {
	other := map[string]string{ // by field, why such a pod is left out
		"Done": "it takes nothing any more", "Node": "it runs elsewhere", "Key": "a pod has a name", "Requests": "each has some", "Devices": "what is allocated is no longer to be given",
	}
	of := reflect.TypeFor[world.Pod]()
	for i := range of.NumField() {
		field := of.Field(i).Name
		if _, excused := other[field]; excused {
			continue
		}
		pod := world.Pod{}
		enginetest.Fill(reflect.ValueOf(&pod).Elem().Field(i))
		pod.Key, pod.Node, pod.Requests = world.Key{Namespace: "d", Name: "used"}, "n", cpu(100)
		b := staged(t, complete).Edit()
		if err := b.SetPod(pod); err != nil {
			t.Errorf("a pod with %s: %v", field, err)
			continue
		}
		runs := b.Snapshot(100)
		b.DeletePod(pod.Key)
		without := b.Snapshot(100)
		there, empty := fit.Of(runs, runs.Place("n")), fit.Of(without, without.Place("n"))
		put := empty.Copy()
		put.Put(&pod)
		by, taken := differing(reflect.ValueOf(empty), reflect.ValueOf(there)), differing(reflect.ValueOf(empty), reflect.ValueOf(*put))
		if !slices.Equal(by, taken) {
			t.Errorf("a pod with %s that runs there takes %v, and one that is put there %v: have Holders in engine/world, place.go, yield it, or Of look at all pods", field, by, taken)
		}
	}
}

// differing are the fields in which two places differ.
func differing(a, b reflect.Value) []string {
	var out []string
	for i := range a.NumField() {
		name := a.Type().Field(i).Name
		if name == "NodeDevices" || name == "Caps" {
			out = append(out, differing(a.Field(i), b.Field(i))...)
		} else if a.Type().Field(i).IsExported() && !equal(a.Field(i), b.Field(i)) {
			out = append(out, name)
		}
	}
	return out
}

// equal reports whether two values are the same; none of a list is an empty one.
func equal(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// stageOf is the place of stage, with the pod that runs there or without it, and the pod.
func stageOf(t *testing.T, at string, runs bool) (fit.Place, *world.Pod) {
	t.Helper()
	w := staged(t, at)
	m := w.Place("n")
	pod := m.Pods[0]
	if !runs {
		b := w.Edit()
		b.DeletePod(pod.Key)
		w = b.Snapshot(w.At())
		m = w.Place("n")
	}
	return fit.Of(w, m), pod
}
