package solve

import (
	"fmt"
	"testing"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// A few items that only one team's hosts take are not reckoned at a small part of the largest of these, for nothing is there to
// fill the rest of it.
func TestFewItemsOfLargeHosts(t *testing.T) {
	const teams = 50
	sizes := []int64{2, 8, 32, 128}
	p := problem.Problem{Charge: 20}
	for team := range teams {
		for _, size := range sizes {
			// The larger the host, the less each of its cores costs.
			p.Hosts = append(p.Hosts, problem.Host{Name: fmt.Sprintf("%d-%d", team, size), Room: []int64{size * 1000, size * 4}, Price: size*100 - size*size/4})
		}
		hosts := problem.NewBits(teams * len(sizes))
		for k := range sizes {
			hosts.Set(team*len(sizes) + k)
		}
		p.Items = append(p.Items, problem.Item{Name: fmt.Sprint(team), Count: 4, Need: []int64{1900, 6}, Hosts: hosts})
	}
	a := Solve(p)
	if whole := int64(teams) * (8*100 - 16); a.Cost != whole || a.Bound < whole*99/100 || a.Bound > whole {
		t.Errorf("cost %d, bound %d; one host of 8 cores for each team costs %d", a.Cost, a.Bound, whole)
	}
	if least := Bound(p, 0); least < teams*(8*100-16)*99/100 {
		t.Errorf("the bound alone is %d of %d", least, teams*(8*100-16))
	}
}

// Where machines cost next to nothing the charge for one more decides, although two small ones have a lower price than one large one.
func TestChargeDecidesForMany(t *testing.T) {
	p := problem.Problem{
		Hosts:  []problem.Host{{Name: "small", Room: []int64{16}, Price: 100}, {Name: "large", Room: []int64{32}, Price: 250}},
		Items:  []problem.Item{{Name: "web", Count: 20, Need: []int64{1}, Hosts: problem.AllBits(2)}, {Name: "api", Count: 12, Need: []int64{1}, Hosts: problem.AllBits(2)}},
		Charge: 20_000,
	}
	if a := Solve(p); len(a.Nodes) != 1 || a.Cost != 250 {
		t.Errorf("%+v, want one large host", a)
	}
}
