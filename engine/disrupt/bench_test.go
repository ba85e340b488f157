package disrupt_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

func BenchmarkDrift(b *testing.B) {
	for _, bench := range []struct {
		name string
		make func() *world.World
	}{
		{"Plain1k", func() *world.World { return enginetest.Steady(1_000, 0) }},
		{"Plain5k", func() *world.World { return enginetest.Steady(5_000, 0) }},
		{"Plain20k", func() *world.World { return enginetest.Steady(20_000, 0) }},
		{"Apps10k", func() *world.World {
			w := enginetest.Apps(10_000)
			return enginetest.Bound(w, provision.Decide(w, provision.Options{}))
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			w := enginetest.Drifted(bench.make())
			b.ResetTimer()
			for b.Loop() {
				p := disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}})
				b.ReportMetric(float64(len(p.Commands)), "commands")
				b.ReportMetric(float64(len(p.Asks())), "nodes")
				b.ReportMetric(float64(len(p.Kept)), "kept")
				b.ReportMetric(float64(len(w.Places())), "of")
			}
		})
	}
}
