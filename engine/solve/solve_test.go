package solve

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/enginetest/problems"
	"github.com/tenon-sh/tenon/engine/solve/fill"
	"github.com/tenon-sh/tenon/engine/solve/firstfit"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/problem"
)

func TestAnswerIsValid(t *testing.T) {
	for name, budgets := range map[string]bool{"Plain": false, "Budgets": true} {
		t.Run(name, func(t *testing.T) {
			chance.Check(t, func(t *rapid.T) {
				p := problems.Drawn(7, 12, budgets).Draw(t, "problem")
				a := Solve(p)
				for _, wrong := range problems.Check(p, a) {
					t.Errorf("%s", wrong)
				}
				if diff := cmp.Diff(a, Solve(p)); diff != "" {
					t.Errorf("the same problem has two answers: -first +second\n%s", diff)
				}
			})
		})
	}
}

// What is solved in slices keeps all rules, too, and its bound holds for the whole.
func TestSlices(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems.Drawn(9, 9, rapid.Bool().Draw(t, "budgets")).Draw(t, "problem")
		size := rapid.SampledFrom([]int{3, 8}).Draw(t, "size")
		whole, sliced := Solve(p), inSlices(p, size)
		for _, wrong := range problems.Check(p, sliced) {
			t.Errorf("%s", wrong)
		}
		if leftOver(whole)+leftOver(sliced) == 0 && sliced.Bound > whole.Cost {
			t.Errorf("the bound is %d, there is an answer of %d", sliced.Bound, whole.Cost)
		}
		if diff := cmp.Diff(sliced, inSlices(p, size)); diff != "" {
			t.Errorf("the same problem has two answers: -first +second\n%s", diff)
		}
	})
}

// Each slice has a share of a class that needs a host for each of its items, or takes most: one slice alone would open hosts for it that it
// has no other use for. Nothing is lost.
func TestSlicesShareLargeClasses(t *testing.T) {
	p := problem.Problem{}
	for i := range 100 {
		p.Items = append(p.Items, problem.Item{Name: fmt.Sprintf("small-%03d", i), Count: 1 + i%3, Need: []int64{100, int64(100 + i)}})
	}
	p.Items = append(p.Items,
		problem.Item{Name: "apart", Count: 50, Need: []int64{1, 1}, PerHost: 1},
		problem.Item{Name: "large", Count: 41, Need: []int64{1, 5000}})
	parts := slicesOf(&p, 24)
	count := make([]int, len(p.Items))
	for _, part := range parts {
		if len(part) > 24 {
			t.Errorf("%d classes in a slice, want 24 at most", len(part))
		}
		for _, it := range part {
			count[it.Item] += it.Count
			if least := p.Items[it.Item].Count / len(parts); it.Item >= 100 && (it.Count < least || it.Count > least+1) {
				t.Errorf("%d of %d items of %s in one of %d slices", it.Count, p.Items[it.Item].Count, p.Items[it.Item].Name, len(parts))
			}
		}
	}
	for i, n := range count {
		if n != p.Items[i].Count {
			t.Errorf("%d items of %s in all slices, want %d", n, p.Items[i].Name, p.Items[i].Count)
		}
	}
}

func TestOrderOfInputDoesNotMatter(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems.Drawn(6, 9, true).Draw(t, "problem")
		q := permuted(t, p)
		a, b := Solve(p), Solve(q)
		if a.Cost != b.Cost || a.Bound != b.Bound || leftOver(a) != leftOver(b) {
			t.Fatalf("cost %d bound %d left %d became cost %d bound %d left %d", a.Cost, a.Bound, leftOver(a), b.Cost, b.Bound, leftOver(b))
		}
	})
}

// permuted is the same problem with its items and hosts in another order.
func permuted(t *rapid.T, p problem.Problem) problem.Problem {
	items := rapid.Permutation(numbers(len(p.Items))).Draw(t, "items")
	hosts := rapid.Permutation(numbers(len(p.Hosts))).Draw(t, "hosts")
	q := problem.Problem{Budgets: p.Budgets, Charge: p.Charge, Steps: p.Steps}
	for _, h := range hosts {
		q.Hosts = append(q.Hosts, p.Hosts[h])
	}
	for _, i := range items {
		item := p.Items[i]
		item.Hosts = problem.NewBits(len(hosts))
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
		q.Groups = append(q.Groups, problem.Group{Members: members, Cap: g.Cap})
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

func leftOver(a problem.Answer) int {
	sum := 0
	for _, l := range a.Left {
		sum += l.Count
	}
	return sum
}

func TestBoundAndCostAgainstTheOptimum(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems.Drawn(4, 2, false).Draw(t, "problem")
		p.Charge = 0
		optimum := problems.Optimum(p, 1<<60)
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
		m := model.Compile(p)
		if len(m.Classes) == 0 {
			return
		}
		// What the relaxation proves without the exact method.
		s := &search{model: m, packer: fill.NewPacker(m)}
		s.give(firstfit.Place(m))
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
		p := problems.Drawn(4, 2, false).Draw(t, "problem")
		p.Charge = 0
		optimum := problems.Optimum(p, 1<<60)
		p.Charge = int64(rapid.SampledFrom([]int{1, 100, 500, 2000}).Draw(t, "charge"))
		a := Solve(p)
		if a.Cost > PriceCeiling(optimum) {
			t.Fatalf("cost %d, optimum %d", a.Cost, optimum)
		}
		m := model.Compile(p)
		most := min(PriceCeiling(optimum), m.Cost(firstfit.Place(m)))
		goal := a.Cost
		for _, n := range a.Nodes {
			goal += p.Charge * int64(n.Times)
		}
		if least := problems.Optimum(p, most); goal != least {
			t.Fatalf("with the charge %d, the least of those of a price up to %d is %d", goal, most, least)
		}
	})
}

func TestNeverDearerThanWhatIsKnown(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems.Drawn(8, 10, false).Draw(t, "problem")
		m := model.Compile(p)
		if len(m.Classes) == 0 {
			return
		}
		charged := func(a problem.Answer) int64 {
			sum := a.Cost
			for _, n := range a.Nodes {
				sum += p.Charge * int64(n.Times)
			}
			return sum
		}
		a, first, handful := Solve(p), firstfit.Place(m), m.ItemCount() <= SmallProblem
		if handful && a.Cost > m.Cost(first) || !handful && m.CompareLeft(first, m.Read(a)) == 0 && charged(a) > m.Goal(first) {
			t.Fatalf("cost %d, with the charge %d; first fit %d and %d", a.Cost, charged(a), m.Cost(first), m.Goal(first))
		}
		cheap := p
		cheap.Charge = 0
		seed := Solve(cheap)
		p.Seeds = []problem.Answer{seed}
		if b := Solve(p); handful && b.Cost > seed.Cost || len(seed.Left) == 0 && charged(b) > charged(seed) && !handful {
			t.Fatalf("cost %d, with the charge %d; seed %d and %d", b.Cost, charged(b), seed.Cost, charged(seed))
		}
	})
}
