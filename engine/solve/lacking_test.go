package solve

import (
	"fmt"
	"testing"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// What budgets leave out is not looked for at the expense of what is placed: that costs hardly more than it does where nothing else
// is asked for. A single search comes to 1.027 times that here.
func TestPlacedIsCheapWhereBudgetsLack(t *testing.T) {
	p := problem.Problem{Budgets: []int64{40}, Charge: 20_000, Steps: 1_000_000}
	var all, team []int
	for _, size := range []int64{2, 4, 8, 16, 32, 48} {
		for _, ratio := range []int64{2, 4, 8} {
			h := problem.Host{Name: fmt.Sprint(size, ratio), Room: []int64{size * 1000, size * ratio * 1000}, Price: size * (20_000 + 3_000*ratio)}
			all = append(all, len(p.Hosts))
			p.Hosts = append(p.Hosts, h)
			h.Name, h.Draws = "team "+h.Name, []problem.Draw{{Amount: size}}
			team = append(team, len(p.Hosts))
			p.Hosts = append(p.Hosts, h)
		}
	}
	these := func(hosts []int) problem.Bits {
		out := problem.NewBits(len(p.Hosts))
		for _, h := range hosts {
			out.Set(h)
		}
		return out
	}
	for i := range int64(60) {
		p.Items = append(p.Items, problem.Item{Name: fmt.Sprint("web ", i), Count: 5, Need: []int64{300 + i*i%1700, 500 + i*i*i%7900}, Hosts: these(all)})
	}
	for i := range int64(30) {
		p.Items = append(p.Items, problem.Item{Name: fmt.Sprint("team ", i), Count: 4, Need: []int64{200 + i*i*7%1300, 300 + i*i*i%5900}, Hosts: these(team)})
	}
	charged := func(a problem.Answer) int64 {
		sum := a.Cost
		for _, n := range a.Nodes {
			sum += p.Charge * int64(n.Times)
		}
		return sum
	}
	many := Solve(p)
	if len(many.Left) == 0 {
		t.Fatal("budgets leave nothing out")
	}
	for _, l := range many.Left {
		p.Items[l.Item].Count -= l.Count
	}
	few := Solve(p)
	if ratio := float64(charged(many)) / float64(charged(few)); len(few.Left) > 0 || ratio > 1.01 {
		t.Errorf("what is placed costs %.4f of what it does when it is all that is asked for; then %v is left out", ratio, few.Left)
	}
}
