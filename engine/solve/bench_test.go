package solve

import (
	"fmt"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest/problems"
)

// BenchmarkSolve reports, besides the time, cost as a multiple of the proven bound, median and worst of the seeds it got to.
func BenchmarkSolve(b *testing.B) {
	for _, f := range problems.Figures() {
		b.Run(fmt.Sprintf("%s-%d", f.Name, f.N), func(b *testing.B) {
			var ratios []float64
			b.ReportAllocs()
			for b.Loop() {
				p := f.Problem(len(ratios) % 20)
				a := Solve(p)
				ratios = append(ratios, float64(a.Cost)/float64(a.Bound))
			}
			median, worst := medianAndWorst(ratios)
			b.ReportMetric(median, "median-cost/bound")
			b.ReportMetric(worst, "worst-cost/bound")
		})
	}
}
