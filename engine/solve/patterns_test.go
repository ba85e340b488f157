package solve

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Whole items: four that need 30 of 100 leave room unused that the relaxation counts on.
func TestBoundCountsWholeItems(t *testing.T) {
	p := problem.Problem{
		Hosts: []problem.Host{{Name: "h", Room: []int64{100, 1000}, Price: 10_000}},
		Items: []problem.Item{
			{Name: "a", Count: 90, Need: []int64{30, 1}, Hosts: problem.AllBits(1)},
			{Name: "b", Count: 90, Need: []int64{35, 1}, Hosts: problem.AllBits(1)},
		},
	}
	// No host holds more than three: 60 hosts, and as many are enough, as 35 + 35 + 30 is 100.
	a := Solve(p)
	if a.Cost != 60*10_000 || a.Bound < 59_999*10 {
		t.Errorf("cost %d, bound %d, want 600000", a.Cost, a.Bound)
	}
	if b := Bound(p, 0); b < 59_999*10 || b > 600_000 {
		t.Errorf("the bound alone is %d, want 600000", b)
	}
}

// Items with much memory of which few may share a host, beside items with much CPU: hosts twice as large are no cheaper for either,
// and hold no more of the former. All that greedy starts found cost a quarter more.
func TestCappedBesideOthers(t *testing.T) {
	host := func(name string, cpu, memory, price int64) problem.Host {
		return problem.Host{Name: name, Room: []int64{cpu, memory}, Price: price}
	}
	p := problem.Problem{
		Hosts: []problem.Host{
			host("r.2", 1_900, 14_500, 83_000), host("r.4", 3_900, 30_000, 166_000), host("r.8", 7_900, 60_500, 332_000), host("r.16", 15_900, 122_000, 645_000),
			host("c.4", 3_900, 7_000, 130_000), host("c.16", 15_900, 29_000, 510_000), host("m.8", 7_900, 29_500, 300_000),
		},
		Items: []problem.Item{
			{Name: "memory", Count: 552, Need: []int64{100, 9_000}, PerHost: 8, Hosts: problem.AllBits(7)},
			{Name: "cpu", Count: 448, Need: []int64{1_300, 1_600}, Hosts: problem.AllBits(7)},
		},
		Charge: 20_000,
	}
	a := Solve(p)
	if float64(a.Cost) > 1.02*float64(a.Bound) {
		t.Errorf("cost %d, bound %d", a.Cost, a.Bound)
	}
}
