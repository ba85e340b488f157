package fit_test

import (
	"reflect"
	"slices"
	"testing"

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
