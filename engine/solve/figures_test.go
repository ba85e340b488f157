package solve

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var figureSeeds = flag.Int("figures", 0, "print the table of figures over so many seeds")

type figure struct {
	name    string
	market  market
	work    workload
	n       int
	classes int
}

func figures() []figure {
	cmr32, cmr, gpu := cmrMarket(3, 32), cmrMarket(3, 192), gpuMarket(3)
	return []figure{
		{"homog/cmr", cmr, homog, 1000, 1},
		{"lognorm/cmr", cmr, lognorm, 1000, 40},
		{"compl/cmr", cmr, compl, 1000, 40},
		{"constr/cmr", cmr, constr, 1000, 60},
		{"bench/cmr", cmr, onePerNode, 1000, 500},
		{"homog/cmr32", cmr32, homog, 1000, 1},
		{"lognorm/cmr32", cmr32, lognorm, 1000, 40},
		{"compl/cmr32", cmr32, compl, 1000, 40},
		{"constr/cmr32", cmr32, constr, 1000, 60},
		{"bench/cmr32", cmr32, onePerNode, 1000, 500},
		{"gpumix/gpu32", gpu, gpumix, 1000, 50},
		{"unique/cmr32", cmr32, unique, 1000, 0},
		{"lognorm/cmr32", cmr32, lognorm, 10_000, 400},
		{"compl/cmr32", cmr32, compl, 10_000, 400},
		{"constr/cmr32", cmr32, constr, 10_000, 640},
		{"bench/cmr32", cmr32, onePerNode, 10_000, 1100},
		{"lognorm/cmr", cmr, lognorm, 10_000, 400},
		{"gpumix/gpu32", gpu, gpumix, 10_000, 480},
		{"unique/cmr32", cmr32, unique, 10_000, 0},
		{"homog/cmr32", cmr32, homog, 100_000, 1},
		{"lognorm/cmr32", cmr32, lognorm, 100_000, 800},
		{"lognorm/cmr32", cmr32, lognorm, 50_000, 10_000},
	}
}

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
	for _, f := range figures() {
		if !strings.Contains(fmt.Sprintf("%s-%d.", f.name, f.n), *figureFilter) {
			continue
		}
		var ratio, ffd []float64
		var spent time.Duration
		nodes := 0
		for seed := range *figureSeeds {
			p := f.problem(seed)
			p.Charge = *figureCharge
			p.Steps = *figureSteps
			before := cpu()
			a := Solve(p)
			spent += cpu() - before
			if wrong := check(p, a); len(wrong) > 0 {
				t.Fatalf("%s %d: %v", f.name, seed, wrong[:min(5, len(wrong))])
			}
			if len(a.Left) > 0 {
				t.Fatalf("left %v", a.Left)
			}
			for _, n := range a.Nodes {
				nodes += n.Times
			}
			m := compile(p)
			ffd = append(ffd, float64(m.cost(m.firstFit()))/float64(max(a.Bound, 1)))
			ratio = append(ratio, float64(a.Cost)/float64(max(a.Bound, 1)))
		}
		median, worst := medianAndWorst(ratio)
		first, _ := medianAndWorst(ffd)
		k := len(ratio)
		fmt.Printf("%-14s %6d %7.3f  %7.4f %7.4f %7.4f  %7.0f %7d\n", f.name, f.n, first, median, worst, ratio[0],
			float64(spent.Milliseconds())/float64(k), nodes/k)
	}
}

func medianAndWorst(ratios []float64) (median, worst float64) {
	slices.Sort(ratios)
	return ratios[len(ratios)/2], ratios[len(ratios)-1]
}
