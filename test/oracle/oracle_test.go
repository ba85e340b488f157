package oracle

import (
	"flag"
	"testing"
)

//nolint:gochecknoglobals // flags of the test program
var (
	worlds = flag.Int("worlds", 150, "how many made-up clusters to plan for")
	first  = flag.Uint64("seed", 1, "the first cluster's seed")

	races     = flag.Int("races", 1, "how many clusters to bind pods of while their nodes get ready one by one")
	size      = flag.Int("pods", 150, "how many pods each of them has")
	hostile   = flag.Bool("hostile", false, "whether they are made up like those of -worlds instead of as people have them")
	beside    = flag.Int("company", 0, "of how many percent of their deployments without constraints each pod has one of another beside it that wants its company")
	within    = flag.Int64("within", 30, "in how many seconds machines join that were bought at the same time")
	hold      = flag.Int64("hold", 20, "how many seconds a machine that has joined may be kept closed to pods")
	together  = flag.Int("together", 0, "how many machines join at a time, long after each other, instead of each in its own time")
	steps     = flag.Bool("steps", false, "whether to tell of every step of a race")
	nominates = flag.Bool("nominate", true, "whether pods are nominated for the nodes that they are planned for")
)

// Every placement of a plan is one that kube-scheduler's filters accept in some
// order, and no pod is refused that they would accept anywhere.
func TestPlansAreRight(t *testing.T) {
	sum := try(t, "plans", *worlds)
	if sum.Placed == 0 || sum.Refused == 0 {
		t.Errorf("%d pods were placed and %d refused in %d plans", sum.Placed, sum.Refused, *worlds)
	}
}

// Where a ledger of room sends the pods of a node that goes, kube-scheduler's
// filters accept them one after the other; and they accept none of those that it
// finds no place for.
func TestMovesAreRight(t *testing.T) {
	sum := try(t, "moves", (*worlds+2)/3) // every node of each is asked about
	if sum.Placed == 0 || sum.Refused == 0 {
		t.Errorf("%d pods were moved and %d were not", sum.Placed, sum.Refused)
	}
}

// Both hold of many small clusters.
func TestSmallClustersAreRight(t *testing.T) {
	for _, kind := range []string{"small", "small-moves", "attended", "shared"} {
		if sum := try(t, kind, *worlds*2); sum.Placed == 0 || sum.Refused == 0 {
			t.Errorf("%s: %d pods were placed and %d were not", kind, sum.Placed, sum.Refused)
		}
	}
}

// What the job has found stays found.
func TestFound(t *testing.T) {
	oracle := converse(t)
	for _, found := range []struct {
		kind string
		seed uint64
		why  string
	}{
		{"moves", 2093, "The first pod of an affinity to its like may go anywhere only as long as it is the first, so moves are judged in the order in which they are made."},
		{"attended", 30188, "A machine is not to be had for a pod where another that is placed keeps the machine's daemons away."},
		{"small", 72304, "Nor where it would be an empty domain that keeps pods of the plan from being bound: those of the next plan may have it."},
		{"plans", 2676, "A machine on its way that may become a type with a label or one without it may count for a spread constraint, as a domain without pods."},
	} {
		judge(t, found.kind, oracle, found.seed)
		if t.Failed() {
			t.Error(found.why)
		}
	}
}

// The same holds of clusters as people have them.
func TestTypicalAreRight(t *testing.T) {
	if sum := try(t, "typical", *worlds/10); sum.Placed == 0 {
		t.Errorf("no pod was placed in %d plans", *worlds/10)
	}
}

// A few pods cost hardly more than the least there is, and the bound is not above it.
func TestTinyWorldsAgainstTheOptimum(t *testing.T) {
	for seed := *first; seed < *first+uint64(*worlds); seed++ { //nolint:gosec // a small number
		judge(t, "tiny", nil, seed)
	}
}

// try has so many clusters of a kind judged.
func try(t *testing.T, kind string, n int) Trial {
	t.Helper()
	oracle := converse(t)
	var sum Trial
	for seed := *first; seed < *first+uint64(n); seed++ { //nolint:gosec // a small number
		one := judge(t, kind, oracle, seed)
		sum.Placed, sum.Refused = sum.Placed+one.Placed, sum.Refused+one.Refused
	}
	t.Logf("%s: %d clusters, %d placements, %d refusals", kind, n, sum.Placed, sum.Refused)
	return sum
}

func judge(t *testing.T, kind string, o *Conversation, seed uint64) Trial {
	t.Helper()
	one, err := Try(kind, o, seed)
	if err != nil {
		t.Fatalf("%s, seed %d: %v", kind, seed, err)
	}
	for _, wrong := range one.Wrong {
		t.Errorf("%s, seed %d:\n%s", kind, seed, wrong)
	}
	return one
}
