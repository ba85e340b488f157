package oracle

import (
	"slices"
	"testing"
)

// What a plan is worth shows when its pods are bound: nodes join one by one, the
// default profile binds as it likes, and after each node it is decided again, as
// the controller does. All machines bought in the end are compared with the
// least that any plan costs, and pods that did not find their place on those of
// the first plan are counted.
func TestCostAfterBinding(t *testing.T) {
	oracle := converse(t)
	var pods, nodes, stranded, homeless int
	var before, after []float64
	for seed := *first; seed < *first+uint64(*races); seed++ { //nolint:gosec // a small number
		c := SettleInCompany(seed, *size, *beside)
		if *hostile {
			c = generate(seed).standing()
		}
		r := Race{Cluster: c, Planner: &Tenon{Nominate: *nominates, Hold: *hold}, Oracle: oracle, Together: *together, Within: *within, Closed: *hold > 0}
		if *steps {
			r.Log = t.Logf
		}
		f, err := r.Run(seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		homeless += f.Homeless
		if f.Homeless > 0 && !*hostile && *beside == 0 {
			t.Errorf("seed %d: %d pods have no node in the end", seed, f.Homeless)
		}
		pods, nodes = pods+f.Placed, nodes+len(f.First.New)
		stranded += f.Stranded
		if least := float64(f.First.Bound); least > 0 {
			before = append(before, float64(f.Planned())/least)
			after = append(after, float64(f.Cost)/least)
		}
	}
	if len(after) == 0 {
		t.Fatal("nothing was bought")
	}
	slices.Sort(before)
	slices.Sort(after)
	n := len(after)
	t.Logf("%d clusters, %d pods, %d nodes planned, nominated %v, joining by %d within %d s, closed for %d s: %.2f %% stranded, %d with no node in the end; cost / bound planned %.3f, worst %.3f; after binding %.3f, worst %.3f",
		*races, pods, nodes, *nominates, *together, *within, *hold, 100*float64(stranded)/float64(pods), homeless, before[n/2], before[n-1], after[n/2], after[n-1])
}
