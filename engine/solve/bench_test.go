package solve

import (
	"fmt"
	"testing"
)

// BenchmarkSolve reports, besides the time, cost as a multiple of the proven bound, median and worst of the seeds it got to.
func BenchmarkSolve(b *testing.B) {
	for _, f := range figures() {
		b.Run(fmt.Sprintf("%s-%d", f.name, f.n), func(b *testing.B) {
			var ratios []float64
			b.ReportAllocs()
			for b.Loop() {
				p := f.problem(len(ratios) % 20)
				a := Solve(p)
				ratios = append(ratios, float64(a.Cost)/float64(a.Bound))
			}
			median, worst := medianAndWorst(ratios)
			b.ReportMetric(median, "median-cost/bound")
			b.ReportMetric(worst, "worst-cost/bound")
		})
	}
}
