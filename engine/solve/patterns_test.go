package solve

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
)

// Whole items: four that need 30 of 100 leave room unused that the relaxation counts on.
func TestBoundCountsWholeItems(t *testing.T) {
	p := Problem{
		Hosts: []Host{{Name: "h", Room: []int64{100, 1000}, Price: 10_000}},
		Items: []Item{
			{Name: "a", Count: 90, Need: []int64{30, 1}, Hosts: AllBits(1)},
			{Name: "b", Count: 90, Need: []int64{35, 1}, Hosts: AllBits(1)},
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
	host := func(name string, cpu, memory, price int64) Host {
		return Host{Name: name, Room: []int64{cpu, memory}, Price: price}
	}
	p := Problem{
		Hosts: []Host{
			host("r.2", 1_900, 14_500, 83_000), host("r.4", 3_900, 30_000, 166_000), host("r.8", 7_900, 60_500, 332_000), host("r.16", 15_900, 122_000, 645_000),
			host("c.4", 3_900, 7_000, 130_000), host("c.16", 15_900, 29_000, 510_000), host("m.8", 7_900, 29_500, 300_000),
		},
		Items: []Item{
			{Name: "memory", Count: 552, Need: []int64{100, 9_000}, PerHost: 8, Hosts: AllBits(7)},
			{Name: "cpu", Count: 448, Need: []int64{1_300, 1_600}, Hosts: AllBits(7)},
		},
		Charge: 20_000,
	}
	a := Solve(p)
	if float64(a.Cost) > 1.02*float64(a.Bound) {
		t.Errorf("cost %d, bound %d", a.Cost, a.Bound)
	}
}

// What the fullest load is worth is never said to be less than it is, and the load that is returned is worth what it says.
func TestFullest(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems(4, 4, true).Draw(t, "problem")
		m := compile(p)
		if len(m.classes) == 0 {
			return
		}
		f := newFluid(m, m.kinds(), int64(rapid.IntRange(0, 500).Draw(t, "charge")))
		f.ascend()
		x := newFullest(f)
		x.worth = make([]int64, len(m.classes))
		for c := range x.worth {
			x.worth[c] = int64(rapid.IntRange(-100, 3_000).Draw(t, "worth")) << moneyBits
		}
		for h := range m.hosts {
			most, best := x.most(int32(h)), fullestByTrying(m, h, x.worth)
			if most < best || most > max(best, x.price(int32(h))) {
				t.Fatalf("host %d: at most %d, price %d, the best load is worth %d", h, most, x.price(int32(h)), best)
			}
			if x.value == 0 {
				continue
			}
			sum := int64(0)
			for _, it := range x.load() {
				sum += x.worth[it.class] * int64(it.n)
			}
			if sum != x.value || sum != most {
				t.Fatalf("host %d: its load is worth %d, and is said to be %d of %d", h, sum, x.value, most)
			}
		}
	})
}

// fullestByTrying tries every load of the host.
func fullestByTrying(m *model, h int, worth []int64) int64 {
	free, count := append([]int64(nil), m.hosts[h].room...), make([]int, len(m.classes))
	allowed := func() bool {
		for _, r := range m.rows {
			n := 0
			for _, c := range r.members {
				n += count[c]
			}
			if n > r.cap {
				return false
			}
		}
		for c, n := range count {
			for _, o := range m.classes[c].conflicts {
				if n > 0 && count[o] > 0 {
					return false
				}
			}
		}
		return true
	}
	best := int64(math.MinInt64)
	var dig func(c int, value int64)
	dig = func(c int, value int64) {
		if c == len(m.classes) {
			if allowed() {
				best = max(best, value)
			}
			return
		}
		k := &m.classes[c]
		most := 0
		if k.takers.Has(h) {
			most = times(k.need, free, min(k.cap, k.count))
		}
		for n := 0; n <= most; n++ {
			for d, need := range k.need {
				free[d] -= need * int64(n)
			}
			count[c] = n
			dig(c+1, value+worth[c]*int64(n))
			count[c] = 0
			for d, need := range k.need {
				free[d] += need * int64(n)
			}
		}
	}
	dig(0, 0)
	return best
}
