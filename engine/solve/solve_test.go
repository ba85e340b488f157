package solve

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
)

// problems draws small problems with every kind of rule.
func problems(maxItems, maxCount int, budgets bool) *rapid.Generator[Problem] {
	return rapid.Custom(func(t *rapid.T) Problem {
		var p Problem
		dims := rapid.IntRange(1, 3).Draw(t, "dims")
		hosts := rapid.IntRange(1, 6).Draw(t, "hosts")
		for h := range hosts {
			size := int64(rapid.IntRange(1, 4).Draw(t, "size"))
			host := Host{Name: fmt.Sprintf("h%d", h), Price: size*1000 + int64(rapid.IntRange(-500, 500).Draw(t, "premium"))}
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
			item := Item{Name: fmt.Sprintf("i%d", i), Count: rapid.IntRange(0, maxCount).Draw(t, "count"), Hosts: NewBits(hosts)}
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
			p.Groups = append(p.Groups, Group{
				Members: rapid.SliceOfNDistinct(rapid.IntRange(0, items-1), 1, items, rapid.ID).Draw(t, "members"),
				Cap:     rapid.IntRange(1, 3).Draw(t, "cap"),
			})
		}
		if budgets {
			for b := range rapid.IntRange(1, 2).Draw(t, "budgets") {
				p.Budgets = append(p.Budgets, int64(rapid.IntRange(0, 8).Draw(t, "budget")))
				for h := range p.Hosts {
					if amount := int64(rapid.IntRange(0, 3).Draw(t, "amount")); amount > 0 {
						p.Hosts[h].Draws = append(p.Hosts[h].Draws, Draw{Budget: b, Amount: amount})
					}
				}
			}
		}
		p.Charge = int64(rapid.SampledFrom([]int{0, 100}).Draw(t, "charge"))
		p.Steps = 20_000
		return p
	})
}

func TestAnswerIsValid(t *testing.T) {
	for name, budgets := range map[string]bool{"Plain": false, "Budgets": true} {
		t.Run(name, func(t *testing.T) {
			chance.Check(t, func(t *rapid.T) {
				p := problems(7, 12, budgets).Draw(t, "problem")
				a := Solve(p)
				for _, wrong := range check(p, a) {
					t.Errorf("%s", wrong)
				}
				if diff := cmp.Diff(a, Solve(p)); diff != "" {
					t.Errorf("the same problem has two answers: -first +second\n%s", diff)
				}
			})
		})
	}
}

func TestAttainable(t *testing.T) {
	tests := map[string]struct {
		why        string
		needs      []int64
		room, want int64
	}{
		"Half":    {why: "Half a core is of no use to items of whole cores.", needs: []int64{1000, 2000}, room: 7760, want: 7000},
		"Sum":     {why: "One of each fits, and no sum is closer.", needs: []int64{4000, 6000, 0}, room: 11_900, want: 10_000},
		"All":     {why: "Small items fill what large ones leave.", needs: []int64{100, 1500}, room: 1990, want: 1900},
		"Tight":   {why: "What is filled to the brim stays as it is.", needs: []int64{7}, room: 21, want: 21},
		"Far":     {why: "Beyond the table only what divides all needs counts.", needs: []int64{4, 6}, room: 1_000_001, want: 1_000_000},
		"Without": {why: "Nothing is known of a dimension that no item needs.", needs: []int64{0}, room: 5, want: 5},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var p Problem
			for _, n := range tt.needs {
				p.Items = append(p.Items, Item{Count: 1, Need: []int64{n}})
			}
			s := newSums(p, 0)
			if got := s.attainable(tt.room); got != tt.want {
				t.Errorf("of %d %d can be filled, want %d. %s", tt.room, got, tt.want, tt.why)
			}
		})
	}
}

// What is solved in slices keeps all rules, too, and its bound holds for the whole.
func TestSlices(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems(9, 9, rapid.Bool().Draw(t, "budgets")).Draw(t, "problem")
		whole, sliced := Solve(p), inSlices(p, 3)
		for _, wrong := range check(p, sliced) {
			t.Errorf("%s", wrong)
		}
		if leftOver(whole)+leftOver(sliced) == 0 && sliced.Bound > whole.Cost {
			t.Errorf("the bound is %d, there is an answer of %d", sliced.Bound, whole.Cost)
		}
		if diff := cmp.Diff(sliced, inSlices(p, 3)); diff != "" {
			t.Errorf("the same problem has two answers: -first +second\n%s", diff)
		}
	})
}

func TestOrderOfInputDoesNotMatter(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems(6, 9, true).Draw(t, "problem")
		q := permuted(t, p)
		a, b := Solve(p), Solve(q)
		if a.Cost != b.Cost || a.Bound != b.Bound || leftOver(a) != leftOver(b) {
			t.Fatalf("cost %d bound %d left %d became cost %d bound %d left %d", a.Cost, a.Bound, leftOver(a), b.Cost, b.Bound, leftOver(b))
		}
	})
}

// permuted is the same problem with its items and hosts in another order.
func permuted(t *rapid.T, p Problem) Problem {
	items := rapid.Permutation(numbers(len(p.Items))).Draw(t, "items")
	hosts := rapid.Permutation(numbers(len(p.Hosts))).Draw(t, "hosts")
	q := Problem{Budgets: p.Budgets, Charge: p.Charge, Steps: p.Steps}
	for _, h := range hosts {
		q.Hosts = append(q.Hosts, p.Hosts[h])
	}
	for _, i := range items {
		item := p.Items[i]
		item.Hosts = NewBits(len(hosts))
		for to, from := range hosts {
			if p.Items[i].Hosts.Has(from) {
				item.Hosts.Set(to)
			}
		}
		item.Conflicts = nil
		for _, j := range p.Items[i].Conflicts {
			item.Conflicts = append(item.Conflicts, slices.Index(items, j))
		}
		q.Items = append(q.Items, item)
	}
	for _, g := range p.Groups {
		var members []int
		for _, i := range g.Members {
			members = append(members, slices.Index(items, i))
		}
		q.Groups = append(q.Groups, Group{members, g.Cap})
	}
	return q
}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func leftOver(a Answer) int {
	sum := 0
	for _, l := range a.Left {
		sum += l.Count
	}
	return sum
}

func TestBoundAndCostAgainstTheOptimum(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems(4, 2, false).Draw(t, "problem")
		p.Charge = 0
		optimum := bruteForce(p, 1<<60)
		a := Solve(p)
		if a.Bound > optimum {
			t.Fatalf("the bound %d is above the optimum %d", a.Bound, optimum)
		}
		if a.Cost != optimum {
			t.Fatalf("cost %d, optimum %d", a.Cost, optimum)
		}
		if b := Bound(p, 0); b > optimum {
			t.Fatalf("the bound %d of the relaxation alone is above the optimum %d", b, optimum)
		}
		m := compile(p)
		if len(m.classes) == 0 {
			return
		}
		// What the relaxation proves without the exact method.
		s := &search{m: m, packer: newPacker(m)}
		s.give(m.firstFit())
		s.relax()
		s.pour(20_000)
		a = s.finish(p)
		if a.Bound > optimum {
			t.Fatalf("the bound of the relaxation %d is above the optimum %d", a.Bound, optimum)
		}
	})
}

// A handful of items costs the least that a price close to the optimum, and to no more than first fit, allows with the charge.
func TestHandfulAgainstTheOptimum(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems(4, 2, false).Draw(t, "problem")
		p.Charge = 0
		optimum := bruteForce(p, 1<<60)
		p.Charge = int64(rapid.SampledFrom([]int{1, 100, 500, 2000}).Draw(t, "charge"))
		a := Solve(p)
		if a.Cost > Bearable(optimum) {
			t.Fatalf("cost %d, optimum %d", a.Cost, optimum)
		}
		m := compile(p)
		most := min(Bearable(optimum), m.cost(m.firstFit()))
		goal := a.Cost
		for _, n := range a.Nodes {
			goal += p.Charge * int64(n.Times)
		}
		if least := bruteForce(p, most); goal != least {
			t.Fatalf("with the charge %d, the least of those of a price up to %d is %d", goal, most, least)
		}
	})
}

// bruteForce is the least cost, with the charge, of placing every item that some host can take, at a price of at most so much:
// item by item, on each open node and on a new one.
func bruteForce(p Problem, most int64) int64 {
	var queue []int
	for i, it := range p.Items {
		for range it.Count {
			if cheapestFor(p, []int{i}) >= 0 {
				queue = append(queue, i)
			}
		}
	}
	best := int64(1) << 60
	var nodes [][]int
	var place func(k int, cost int64)
	place = func(k int, cost int64) {
		if cost > most || cost+p.Charge*int64(len(nodes)) >= best {
			return
		}
		if k == len(queue) {
			best = cost + p.Charge*int64(len(nodes))
			return
		}
		for n := range nodes {
			old := nodes[n]
			nodes[n] = append(slices.Clone(old), queue[k])
			if price := cheapestFor(p, nodes[n]); price >= 0 {
				place(k+1, cost-cheapestFor(p, old)+price)
			}
			nodes[n] = old
		}
		nodes = append(nodes, []int{queue[k]})
		place(k+1, cost+cheapestFor(p, nodes[len(nodes)-1]))
		nodes = nodes[:len(nodes)-1]
	}
	place(0, 0)
	return best
}

// cheapestFor is the least price of a host that takes the items together, or -1.
func cheapestFor(p Problem, items []int) int64 {
	var node Node
	for _, i := range items {
		at := slices.IndexFunc(node.Items, func(it Portion) bool { return it.Item == i })
		if at < 0 {
			node.Items = append(node.Items, Portion{i, 1})
		} else {
			node.Items[at].Count++
		}
	}
	best := int64(-1)
	for h := range p.Hosts {
		node.Host = h
		if (best < 0 || p.Hosts[h].Price < best) && len(checkNode(p, node)) == 0 {
			best = p.Hosts[h].Price
		}
	}
	return best
}

func TestNeverDearerThanWhatIsKnown(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems(8, 10, false).Draw(t, "problem")
		m := compile(p)
		if len(m.classes) == 0 {
			return
		}
		charged := func(a Answer) int64 {
			sum := a.Cost
			for _, n := range a.Nodes {
				sum += p.Charge * int64(n.Times)
			}
			return sum
		}
		a, first, handful := Solve(p), m.firstFit(), m.items() <= Handful
		if handful && a.Cost > m.cost(first) || !handful && m.missing(first, m.read(a)) == 0 && charged(a) > m.goal(first) {
			t.Fatalf("cost %d, with the charge %d; first fit %d and %d", a.Cost, charged(a), m.cost(first), m.goal(first))
		}
		cheap := p
		cheap.Charge = 0
		seed := Solve(cheap)
		p.Seeds = []Answer{seed}
		if b := Solve(p); handful && b.Cost > seed.Cost || len(seed.Left) == 0 && charged(b) > charged(seed) && !handful {
			t.Fatalf("cost %d, with the charge %d; seed %d and %d", b.Cost, charged(b), seed.Cost, charged(seed))
		}
	})
}
