package provision_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

func BenchmarkDecide(b *testing.B) {
	for _, bench := range []struct {
		name string
		make func() *world.World
		o    provision.Options
	}{
		{"Diverse10k", func() *world.World { return enginetest.Diverse(10_000) }, provision.Options{}},
		{"Apps1k", func() *world.World { return enginetest.Apps(1_000) }, provision.Options{}},
		{"Apps10k", func() *world.World { return enginetest.Apps(10_000) }, provision.Options{}},
		{"Steady2000x500", func() *world.World { return enginetest.Steady(2000, 500) }, provision.Options{}},
		{"Steady100000x500", func() *world.World { return enginetest.Steady(100_000, 500) }, provision.Options{}},
		{"Alike1000k", func() *world.World { return enginetest.Deployments(1, 1_000_000) }, provision.Options{}},
		{"Unlike100k", func() *world.World { return enginetest.Deployments(100_000, 1) }, provision.Options{}},
		{"Tangled1k", func() *world.World { return enginetest.Tangled(1_000) }, provision.Options{}},
		{"Tangled5k", func() *world.World { return enginetest.Tangled(5_000) }, provision.Options{}},
		{"Wishful4k", func() *world.World { return enginetest.Wishful(4_000) }, provision.Options{}},
		{"Limited5k", func() *world.World { return enginetest.Limited(5_000) }, provision.Options{}},
		{"Chain16k", func() *world.World { return enginetest.Chain(16_000) }, provision.Options{}},
		{"Hopeless5k", func() *world.World { return enginetest.Hopeless(5_000) }, provision.Options{}},
		{"Tenants500x100", func() *world.World { return enginetest.Tenants(500, 100) }, provision.Options{}},
		{"Open1000x100", func() *world.World { return enginetest.Open(1000, 100) }, provision.Options{}},
		{"Exact1k", func() *world.World { return enginetest.Apps(1_000) }, provision.Options{ExactOnly: true}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			w := bench.make()
			b.ResetTimer()
			for b.Loop() {
				p := provision.Decide(w, bench.o)
				b.ReportMetric(float64(p.Cost)/float64(max(p.Bound, 1)), "cost/bound")
				b.ReportMetric(float64(len(p.New)), "nodes")
				b.ReportMetric(float64(len(p.Refused)), "refused")
				b.ReportMetric(float64(len(p.GivenUp)), "given-up")
				b.ReportMetric(float64(p.Steps), "steps")
			}
		})
	}
}
