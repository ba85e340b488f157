package live

import (
	"fmt"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/world"
)

// BenchmarkLook draws a cluster of 5,000 nodes of which one pod has changed: what each look costs while a page is open.
func BenchmarkLook(b *testing.B) {
	w := enginetest.Steady(5000, 20)
	var v view
	v.next(w, nil)
	i := 0
	for b.Loop() {
		b.StopTimer()
		change := w.Edit()
		change.DeletePod(world.Key{Namespace: "default", Name: fmt.Sprintf("run-%d-%d", i%5000, i/5000)})
		w = change.Snapshot(int64(i))
		i++
		b.StartTimer()
		if _, changed := v.next(w, nil); !changed {
			b.Fatal("nothing has changed")
		}
	}
}

// BenchmarkKeeps asks what keeps each of 5,000 nodes.
func BenchmarkKeeps(b *testing.B) {
	w := enginetest.Steady(5000, 20)
	for b.Loop() {
		keeps(w, nil)
	}
}
