package problems

import (
	"math/rand/v2"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Figure is a workload of n items in some classes, and the market it is placed on.
type Figure struct {
	Name    string // the workload and the market
	market  market
	work    workload
	N       int // how many items
	Classes int // in how many classes, about
}

// Figures are the workloads that speed and cost are measured by.
func Figures() []Figure {
	cmr32, cmr, gpu := cmrMarket(3, 32), cmrMarket(3, 192), gpuMarket(3)
	return []Figure{
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

// Problem is the workload drawn by a seed.
func (f *Figure) Problem(seed int) problem.Problem {
	p := f.work(rand.New(rand.NewPCG(uint64(seed), 7)), &f.market, f.N, f.Classes)
	p.Charge = 20_000
	return p
}
