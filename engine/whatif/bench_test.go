package whatif_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/whatif"
	"github.com/tenon-sh/tenon/engine/world"
)

func BenchmarkNew(b *testing.B) {
	w := enginetest.Steady(2000, 0)
	for b.Loop() {
		whatif.New(w, packing.Options{}, whatif.Staying)
	}
}

func BenchmarkGoes(b *testing.B) {
	for name, w := range map[string]*world.World{"Roomy": enginetest.Steady(2000, 0), "Full": full(b, enginetest.Steady(2000, 0))} {
		b.Run(name, func(b *testing.B) {
			c := whatif.New(w, packing.Options{}, whatif.Staying)
			n := len(c.Places())
			i, yes := 0, 0
			for b.Loop() {
				if c.Goes(i % n) {
					yes++
				}
				i++
			}
			b.ReportMetric(float64(yes)/float64(i), "yes/op")
		})
	}
}

// full is the World with nodes that have no room but for what runs there: it takes
// the longest to find out that nothing goes.
func full(b *testing.B, w *world.World) *world.World {
	edit := w.Edit()
	for _, p := range w.Places() {
		n := *p.Node
		n.Allocatable = p.Used
		if err := edit.SetNode(n); err != nil {
			b.Fatal(err)
		}
	}
	return edit.Snapshot(0)
}
