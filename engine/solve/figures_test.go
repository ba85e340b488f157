package solve

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/engine/enginetest/problems"
	"github.com/tenon-sh/tenon/engine/solve/firstfit"
	"github.com/tenon-sh/tenon/engine/solve/model"
)

var figureSeeds = flag.Int("figures", 0, "print the table of figures over so many seeds")

var figureSteps = flag.Int("figuresteps", 0, "counted steps of each figure")

var figureCharge = flag.Int64("figurecharge", 20_000, "charge per host, micro-dollars per hour")

var figureFilter = flag.String("figure", "", "only figures whose name contains this")

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestFigures(t *testing.T) {
	if *figureSeeds == 0 {
		t.Skip("run with -figures=N")
	}
	fmt.Printf("%-14s %6s %7s  %7s %7s %7s  %7s %7s\n", "workload", "n", "ffd", "median", "worst", "bestgap", "cpu ms", "nodes")
	for _, f := range problems.Figures() {
		if !strings.Contains(fmt.Sprintf("%s-%d.", f.Name, f.N), *figureFilter) {
			continue
		}
		var ratio, ffd []float64
		var spent time.Duration
		nodes := 0
		for seed := range *figureSeeds {
			p := f.Problem(seed)
			p.Charge = *figureCharge
			p.Steps = *figureSteps
			before := cpu()
			a := Solve(p)
			spent += cpu() - before
			if wrong := problems.Check(p, a); len(wrong) > 0 {
				t.Fatalf("%s %d: %v", f.Name, seed, wrong[:min(5, len(wrong))])
			}
			if len(a.Left) > 0 {
				t.Fatalf("left %v", a.Left)
			}
			for _, n := range a.Nodes {
				nodes += n.Times
			}
			m := model.Compile(p)
			ffd = append(ffd, float64(m.Cost(firstfit.Place(m)))/float64(max(a.Bound, 1)))
			ratio = append(ratio, float64(a.Cost)/float64(max(a.Bound, 1)))
		}
		median, worst := medianAndWorst(ratio)
		first, _ := medianAndWorst(ffd)
		k := len(ratio)
		fmt.Printf("%-14s %6d %7.3f  %7.4f %7.4f %7.4f  %7.0f %7d\n", f.Name, f.N, first, median, worst, ratio[0],
			float64(spent.Milliseconds())/float64(k), nodes/k)
	}
}

func medianAndWorst(ratios []float64) (median, worst float64) {
	slices.Sort(ratios)
	return ratios[len(ratios)/2], ratios[len(ratios)-1]
}
