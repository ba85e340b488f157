package integer

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/problem"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

func TestWholeHosts(t *testing.T) {
	host := func(name string, price int64, room ...int64) problem.Host {
		return problem.Host{Name: name, Room: room, Price: price}
	}
	item := func(name string, count int, need ...int64) problem.Item {
		return problem.Item{Name: name, Count: count, Need: need, Hosts: problem.AllBits(2)}
	}
	tests := map[string]struct {
		why   string
		p     problem.Problem
		bound int64
	}{
		"Half": {
			why:   "One host and a half are two.",
			p:     problem.Problem{Hosts: []problem.Host{host("h", 1_000, 100)}, Items: []problem.Item{item("a", 15, 10)}},
			bound: 2_000,
		},
		"Sizes": {
			why:   "Half of the large host would be cheaper than the small one, but beside a large one the small one is enough.",
			p:     problem.Problem{Hosts: []problem.Host{host("large", 1_900, 200), host("small", 1_000, 100)}, Items: []problem.Item{item("a", 30, 10)}},
			bound: 2_900,
		},
		"Charge": {
			why:   "The charge counts for each: two small hosts are dearer than a large one.",
			p:     problem.Problem{Charge: 100, Hosts: []problem.Host{host("large", 2_050, 200), host("small", 1_000, 100)}, Items: []problem.Item{item("a", 19, 10)}},
			bound: 2_150,
		},
		"TwoThings": {
			why: "One host has what is needed of the one, and the other what is needed of the other; neither has both.",
			p: problem.Problem{
				Hosts: []problem.Host{host("cpu", 1_000, 100, 10), host("memory", 1_000, 10, 100)},
				Items: []problem.Item{item("a", 7, 10, 1), item("b", 7, 1, 10)},
			},
			bound: 2_000,
		},
		"Budget": {
			why: "Of the cheap hosts there is one, and one of the others is not enough beside it.",
			p: problem.Problem{
				Hosts:   []problem.Host{{Name: "cheap", Room: []int64{100}, Price: 100, Draws: []problem.Draw{{Budget: 0, Amount: 1}}}, host("dear", 1_000, 100)},
				Items:   []problem.Item{item("a", 25, 10)},
				Budgets: []int64{1},
			},
			bound: 2_100,
		},
		"Capped": {
			why: "Of what fits ten times only four may share a host.",
			p: problem.Problem{
				Hosts: []problem.Host{host("h", 1_000, 1_000)},
				Items: []problem.Item{{Name: "a", Count: 9, Need: []int64{10}, PerHost: 4, Hosts: problem.AllBits(1)}, item("b", 10, 100)},
			},
			bound: 3_000,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := model.Compile(tt.p)
			f := relax.New(m, relax.KindsOf(m), m.Charge)
			f.Ascend()
			placed := make([]int, len(m.Classes))
			for c := range placed {
				placed[c] = m.Classes[c].Count
			}
			if got := Bound(f, placed, 0, 2*tt.bound); got != tt.bound {
				t.Errorf("the bound is %d, want %d. %s", got, tt.bound, tt.why)
			}
		})
	}
}

// The branches hold the cheapest hosts that meet all demands.
func TestCensusByTrying(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		x := &hostProgram{goal: 40, idle: patience, simplex: &relax.Simplex{}}
		kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
		for range kinds {
			x.price = append(x.price, int64(rapid.IntRange(3, 9).Draw(t, "price")))
		}
		for range rapid.IntRange(1, 3).Draw(t, "demands") {
			d := demand{need: int64(rapid.IntRange(-8, 30).Draw(t, "need"))}
			for range kinds {
				give := int64(rapid.IntRange(0, 9).Draw(t, "give"))
				if d.need < 0 {
					give = -give
				}
				d.give = append(d.give, give)
			}
			x.demands = append(x.demands, d)
		}
		best := x.goal
		var dig func(n int, cost int64, hosts []int64)
		dig = func(n int, cost int64, hosts []int64) {
			if cost >= best {
				return
			}
			if n < kinds {
				for y := int64(0); y <= 14; y++ {
					dig(n+1, cost+y*x.price[n], append(hosts, y))
				}
				return
			}
			for _, d := range x.demands {
				sum := int64(0)
				for n, y := range hosts {
					sum += d.give[n] * y
				}
				if sum < d.need {
					return
				}
			}
			best = cost
		}
		dig(0, 0, nil)
		x.push(x.all())
		for range 2_000 {
			b := x.pop()
			kind, all := b.fraction(x.price)
			if b.bound >= x.goal || kind < 0 {
				x.push(b)
				break
			}
			x.split(b, kind, all)
		}
		if got := min(x.open[0].bound, x.goal); got != best {
			t.Fatalf("hosts cost %d at least, want %d: %+v, prices %d", got, best, x.demands, x.price)
		}
	})
}
