package pattern

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/enginetest/problems"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/proof"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// What the fullest load is worth is never said to be less than it is, and the load that is returned is worth what it says.
func TestFullest(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		p := problems.Drawn(4, 4, true).Draw(t, "problem")
		m := model.Compile(p)
		if len(m.Classes) == 0 {
			return
		}
		f := relax.New(m, relax.KindsOf(m), int64(rapid.IntRange(0, 500).Draw(t, "charge")))
		f.Ascend()
		x := newKnapsack(f)
		x.worth = make([]int64, len(m.Classes))
		for c := range x.worth {
			x.worth[c] = int64(rapid.IntRange(-100, 3_000).Draw(t, "worth")) << proof.MoneyBits
		}
		for h := range m.Hosts {
			most, best := x.most(int32(h)), fullestByTrying(m, h, x.worth)
			if most < best || most > max(best, x.price(int32(h))) {
				t.Fatalf("host %d: at most %d, price %d, the best load is worth %d", h, most, x.price(int32(h)), best)
			}
			if x.value == 0 {
				continue
			}
			sum := int64(0)
			for _, it := range x.load() {
				sum += x.worth[it.Class] * int64(it.Count)
			}
			if sum != x.value || sum != most {
				t.Fatalf("host %d: its load is worth %d, and is said to be %d of %d", h, sum, x.value, most)
			}
		}
	})
}

// fullestByTrying tries every load of the host.
func fullestByTrying(m *model.Model, h int, worth []int64) int64 {
	free, count := append([]int64(nil), m.Hosts[h].Room...), make([]int, len(m.Classes))
	allowed := func() bool {
		for _, r := range m.Groups {
			n := 0
			for _, c := range r.Members {
				n += count[c]
			}
			if n > r.Limit {
				return false
			}
		}
		for c, n := range count {
			for _, o := range m.Classes[c].Conflicts {
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
		if c == len(m.Classes) {
			if allowed() {
				best = max(best, value)
			}
			return
		}
		k := &m.Classes[c]
		most := 0
		if k.Takers.Has(h) {
			most = model.Times(k.Need, free, min(k.Cap, k.Count))
		}
		for n := 0; n <= most; n++ {
			for d, need := range k.Need {
				free[d] -= need * int64(n)
			}
			count[c] = n
			dig(c+1, value+worth[c]*int64(n))
			count[c] = 0
			for d, need := range k.Need {
				free[d] += need * int64(n)
			}
		}
	}
	dig(0, 0)
	return best
}
