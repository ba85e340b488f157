package hold_test

import (
	"reflect"
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// A pod that holds its machine is not evicted either: the drain of a machine that
// goes for another reason asks Forbids, and so does what plans for its pods.
func TestWhatHoldsIsNotEvicted(t *testing.T) {
	asked := map[reason.Code]string{ // the API server, or the owner, has a say in these evictions
		reason.Guarded: "the eviction API keeps it while its budget allows none",
		reason.Alone:   "its machine is kept by choice only: who ends it means it",
	}
	w := world.NewBuilder().Snapshot(0)
	look := func(field string, p *world.Pod) {
		h, held := hold.Keeps(w, p)
		if _, excused := asked[h.Code]; held && !excused && !p.Forbids(w.At()) {
			t.Errorf("a pod with %s keeps its machine as %s, and would be evicted from one that goes all the same: have Forbids, engine/world/forbid.go, know of it, or say here why not", field, h.Code)
		}
		if p.Forbids(w.At()) && !held && !p.Terminating && !p.Virtual {
			t.Errorf("a pod with %s forbids that it is moved, and does not keep its machine", field)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[world.Pod]()) {
		var p world.Pod
		enginetest.Fill(reflect.ValueOf(&p).Elem().FieldByIndex(f.Index))
		look(f.Name, &p)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[world.PodDisruption]()) {
		var p world.Pod
		enginetest.Fill(reflect.ValueOf(&p.Disruption).Elem().FieldByIndex(f.Index))
		look("disruption."+f.Name, &p)
		p.Started = 10
		look("disruption."+f.Name+", started", &p)
	}
}
