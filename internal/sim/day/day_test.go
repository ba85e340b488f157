package day_test

import (
	"flag"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/day"
)

var (
	days   = flag.Int("days", 1, "how many days to live through")
	loaded = sync.OnceValues(catalog.Load)
)

func region(t *testing.T) *catalog.Region {
	t.Helper()
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	r, err := all.Region("us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Nothing is lost, leaked, over-full or over a limit at any time of the day,
// and at night everything has been given back. The day that gates every change has
// a third of the workloads of those that are lived through when more are asked for.
func TestDays(t *testing.T) {
	apps := 20
	if *days > 1 {
		apps = 60
	}
	for seed := range uint64(*days) { //nolint:gosec // a small number
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r, err := day.Run(day.Config{Seed: seed, Catalog: region(t), Hours: 24, Apps: apps, Breaks: 10, Takes: 20, SoldOut: 10, Expire: 6 * 3600})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Problems {
				t.Error(p)
			}
			if r.Bought == 0 || r.Given == 0 || r.PeakPods == 0 || r.Taken == 0 {
				t.Errorf("nothing happened: %+v", r)
			}
			if r.LongestWait > 600 {
				t.Errorf("a pod waited %d s for its place", r.LongestWait)
			}
			t.Logf("%+v", r)
		})
	}
}

// The same holds while pods are moved to make the cluster cheaper, and it does become cheaper.
func TestDaysOfMoving(t *testing.T) {
	cfg := day.Config{Seed: 5, Catalog: region(t), Hours: 6, Apps: 20, Breaks: 4, Takes: 6, SoldOut: 6, Expire: 4 * 3600}
	still, err := day.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Move = true
	r, err := day.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Error(p)
	}
	if r.Consolidated == 0 || r.Spent >= still.Spent {
		t.Errorf("%d machines went, and it cost %d instead of %d", r.Consolidated, r.Spent, still.Spent)
	}
	if r.LongestWait > 600 {
		t.Errorf("a pod waited %d s for its place", r.LongestWait)
	}
	t.Logf("still %+v\nmoving %+v", still, r)
}

// A day of the same seed is the same day.
func TestDaysRepeat(t *testing.T) {
	cfg := day.Config{Seed: 42, Catalog: region(t), Hours: 4, Apps: 20, Breaks: 3, Takes: 5, SoldOut: 3}
	a, err := day.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, err := day.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("the same seed gave another day:\n%s", diff)
	}
}

// While nothing at all is to be had it is not asked in a loop: what is sold out is
// left alone for minutes. And when machines are back every pod gets its place.
func TestNothingToBeHad(t *testing.T) {
	r, err := day.Run(day.Config{Seed: 3, Catalog: region(t), Hours: 3, Apps: 12, Nothing: 3600})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Error(p)
	}
	if r.LongestWait < 1800 {
		t.Errorf("no pod waited for long: %+v", r)
	}
	// Offers are tried again every three minutes; then one machine for each of the nodes that are missing.
	if most := 20 * r.PeakNodes; r.Failed == 0 || r.Failed > most {
		t.Errorf("%d machines were asked for in vain, want 1 to %d: %+v", r.Failed, most, r)
	}
	t.Logf("%+v", r)
}
