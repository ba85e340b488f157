// Package problems draws problems of the solver, knows the optimum of small ones, and looks at answers without code of the solver.
package problems

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Drawn draws small problems with every kind of rule.
func Drawn(maxItems, maxCount int, budgets bool) *rapid.Generator[problem.Problem] {
	return rapid.Custom(func(t *rapid.T) problem.Problem {
		var p problem.Problem
		dims := rapid.IntRange(1, 3).Draw(t, "dims")
		hosts := rapid.IntRange(1, 6).Draw(t, "hosts")
		for h := range hosts {
			size := int64(rapid.IntRange(1, 4).Draw(t, "size"))
			host := problem.Host{Name: fmt.Sprintf("h%d", h), Price: size*1000 + int64(rapid.IntRange(-500, 500).Draw(t, "premium"))}
			for range dims {
				host.Room = append(host.Room, size*int64(rapid.IntRange(5, 15).Draw(t, "room")))
			}
			if h > 0 && rapid.IntRange(0, 3).Draw(t, "twin") == 0 { // the same in another zone
				host.Room, host.Price = p.Hosts[h-1].Room, p.Hosts[h-1].Price
			}
			p.Hosts = append(p.Hosts, host)
		}
		items := rapid.IntRange(1, maxItems).Draw(t, "items")
		for i := range items {
			item := problem.Item{Name: fmt.Sprintf("i%d", i), Count: rapid.IntRange(0, maxCount).Draw(t, "count"), Hosts: problem.NewBits(hosts)}
			for range dims {
				item.Need = append(item.Need, int64(rapid.IntRange(0, 20).Draw(t, "need")))
			}
			item.PerHost = rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "perHost")
			item.Rank = rapid.IntRange(0, 1).Draw(t, "rank")
			for h := range hosts {
				if rapid.IntRange(0, 4).Draw(t, "welcome") > 0 {
					item.Hosts.Set(h)
				}
			}
			if i > 0 && rapid.IntRange(0, 4).Draw(t, "conflicted") == 0 {
				item.Conflicts = []int{rapid.IntRange(0, i).Draw(t, "conflict")}
			}
			p.Items = append(p.Items, item)
		}
		for range rapid.IntRange(0, 2).Draw(t, "groups") {
			p.Groups = append(p.Groups, problem.Group{
				Members: rapid.SliceOfNDistinct(rapid.IntRange(0, items-1), 1, items, rapid.ID).Draw(t, "members"),
				Cap:     rapid.IntRange(1, 3).Draw(t, "cap"),
			})
		}
		if budgets {
			for b := range rapid.IntRange(1, 2).Draw(t, "budgets") {
				p.Budgets = append(p.Budgets, int64(rapid.IntRange(0, 8).Draw(t, "budget")))
				for h := range p.Hosts {
					if amount := int64(rapid.IntRange(0, 3).Draw(t, "amount")); amount > 0 {
						p.Hosts[h].Draws = append(p.Hosts[h].Draws, problem.Draw{Budget: b, Amount: amount})
					}
				}
			}
		}
		p.Charge = int64(rapid.SampledFrom([]int{0, 100}).Draw(t, "charge"))
		p.Steps = 20_000
		return p
	})
}
