package day_test

import (
	"flag"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/day"
	"github.com/tenon-sh/tenon/internal/statemetrics"
)

var from = flag.Uint64("seed", 4, "the seed of the weeks that TENON_TEST_WEEKS asks for")

// weeks is a life of so many days in which everything happens.
func weeks(seed uint64, days int, r *catalog.Region) day.Config {
	return day.Config{
		Seed: seed, Catalog: r, Hours: 24 * days, Apps: 8, Most: 14, Move: true, Often: 600, Fixed: 3, Expire: 2 * 24 * 3600,
		Life: day.Life{Rollouts: 6, Breaks: 2, Takes: 4, SoldOut: 4, Deaths: 6, Storms: 3, Edits: 3, Faults: 5, Lame: 4},
	}
}

// measured is what one day left behind.
type measured struct {
	heap, goroutines, series, writes, calls, coming int
}

// live lives through weeks and returns what every day left behind.
func live(t *testing.T, cfg day.Config) (day.Report, []measured) {
	t.Helper()
	var days []measured
	var before day.Report
	cfg.Life.Each = func(e day.Evening) {
		m := measured{
			heap: heap(), goroutines: runtime.NumGoroutine(), coming: e.Coming,
			writes: e.So.Writes - before.Writes, calls: e.So.Calls - before.Calls,
		}
		for _, samples := range statemetrics.Of(e.World, nil) {
			m.series += len(samples)
		}
		days, before = append(days, m), e.So
		t.Logf("day %d: %d pods, %d places, bought %d, problems %d, left %+v", e.Day, len(e.World.Pods()), len(e.World.Places()), e.So.Bought, len(e.So.Problems), m)
	}
	r, err := day.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Error(p)
	}
	// A machine that never joins is given up after 15 minutes, and so may be the next.
	if r.LongestWait > 3600 {
		t.Errorf("a pod waited %d s for its place", r.LongestWait)
	}
	t.Logf("%+v", r)
	return r, days
}

// heap is how many bytes are alive.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc) //nolint:gosec // it fits
}

// Nothing goes wrong on a day of weeks. A schedule that found a fault is kept here under a name.
func TestDaysOfWeeks(t *testing.T) {
	tests := map[string]struct {
		why  string
		seed uint64
		set  func(*day.Config)
	}{
		"Everything": {"All that happens in weeks happens on one day.", 1, func(*day.Config) {}},
		"Ends": {"A process that ends between two writes again and again leaves nothing that the next one does not carry on.", 2, func(c *day.Config) {
			c.Life.Deaths = 100
		}},
		"Unmarked": {"A process that ends after it has said that a machine is to go, and before it has kept pods away from there, leaves that to the next.", 23, func(c *day.Config) {
			c.Life.Deaths = 100
		}},
		"Faults": {"A cloud of which every third call fails, and half of these are carried out all the same, sells nothing twice.", 3, func(c *day.Config) {
			c.Life.Faults = 33
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := weeks(tc.seed, 1, region(t))
			cfg.Apps, cfg.Most, cfg.Expire = 7, 12, 8*3600
			cfg.Life.Storms, cfg.Life.Edits, cfg.Life.Deaths = 14, 14, 12
			tc.set(&cfg)
			r, days := live(t, cfg)
			if len(days) != 1 || r.MidWrite == 0 || r.Lost == 0 || r.Rollouts == 0 || r.Storms == 0 || r.Drifted == 0 || r.Expired == 0 {
				t.Errorf("something did not happen: %s", tc.why)
			}
		})
	}
}

// Weeks leave nothing behind: what a day leaves does not grow from the first week to the last,
// or, in the one week that gates every change, from its first three days to its last three.
func TestWeeks(t *testing.T) {
	n, share := 1, 3
	if asked := os.Getenv("TENON_TEST_WEEKS"); asked != "" {
		var err error
		if n, err = strconv.Atoi(asked); err != nil || n < 2 {
			t.Fatalf("TENON_TEST_WEEKS is %q, want a number of weeks, two or more", asked)
		}
		share = 7
	}
	cfg := weeks(*from, 7*n, region(t))
	cfg.Expire = 8 * 3600 // few machines live for long here
	r, days := live(t, cfg)
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d days, %d events, bought %d, given back %d, %d CPU seconds", len(days), r.Steps, r.Bought, r.Given, used.Utime.Sec+used.Stime.Sec)
	if len(days) != 7*n || r.MidWrite == 0 || r.Lost == 0 || r.Lame == 0 || r.Storms == 0 || r.Drifted == 0 || r.Expired == 0 || r.Consolidated == 0 {
		t.Fatalf("something did not happen in %d days", len(days))
	}
	flat(t, days[:share], days[len(days)-share:])
}

// flat fails if the last days left more behind than the first.
func flat(t *testing.T, first, last []measured) {
	t.Helper()
	most := func(of []measured, what func(measured) int) int {
		return what(slices.MaxFunc(of, func(a, b measured) int { return what(a) - what(b) }))
	}
	sum := func(of []measured, what func(measured) int) (n int) {
		for _, m := range of {
			n += what(m)
		}
		return n
	}
	for _, x := range []struct {
		name  string
		of    func([]measured, func(measured) int) int
		what  func(measured) int
		share int // percent of the first days' that the last may have
		more  int
	}{
		{"bytes of live heap", most, func(m measured) int { return m.heap }, 110, 1 << 20},
		{"goroutines", most, func(m measured) int { return m.goroutines }, 100, 0},
		{"series", most, func(m measured) int { return m.series }, 120, 0},
		{"events to come", most, func(m measured) int { return m.coming }, 150, 0},
		{"writes", sum, func(m measured) int { return m.writes }, 150, 0},
		{"calls of the cloud", sum, func(m measured) int { return m.calls }, 150, 0},
	} {
		a, b := x.of(first, x.what), x.of(last, x.what)
		t.Logf("%s: %d in the first %d days, %d in the last", x.name, a, len(first), b)
		if b > a*x.share/100+x.more {
			t.Errorf("%s grow from %d in the first %d days to %d in the last", x.name, a, len(first), b)
		}
	}
}
