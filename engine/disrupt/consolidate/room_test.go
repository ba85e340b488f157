package consolidate

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
)

func rooms(t *rapid.T, name string, least, most, kinds int) (out []room) {
	for range rapid.IntRange(least, most).Draw(t, name) {
		r := room{price: float64(rapid.IntRange(1, 100).Draw(t, "price"))}
		for range kinds {
			r.size = append(r.size, float64(rapid.IntRange(1, 20).Draw(t, "size")))
		}
		out = append(out, r)
	}
	return out
}

func needs(t *rapid.T, kinds int) (out []float64) {
	for range kinds {
		out = append(out, float64(rapid.IntRange(0, 200).Draw(t, "need")))
	}
	return out
}

// proves is the bound that prices prove: what need is worth, less what machines that
// are there are worth beyond what they cost.
func proves(unit, need []float64, have []room) float64 {
	sum := 0.0
	for d, n := range need {
		sum += unit[d] * n
	}
	for _, r := range have {
		sum -= max(r.worth(unit)-r.price, 0)
	}
	return sum
}

// However room is priced, no machine that is sold is worth more than it costs, and
// nothing that has enough of everything costs less than the prices prove.
func TestPricesProveABound(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
		need, have, sold := needs(t, kinds), rooms(t, "have", 0, 6, kinds), rooms(t, "sold", 1, 3, kinds)
		unit := balance(need, have, sold)
		for _, r := range sold {
			if r.worth(unit) > r.price*1.000001 {
				t.Fatalf("room for %v, which is sold for %v, is worth %v", r.size, r.price, r.worth(unit))
			}
		}
		left, cost := slices.Clone(need), 0.0
		take := func(r room) {
			cost += r.price
			for d := range left {
				left[d] -= r.size[d]
			}
		}
		for _, r := range have {
			if rapid.Bool().Draw(t, "kept") {
				take(r)
			}
		}
		for slices.Max(left) > 0 {
			take(sold[rapid.IntRange(0, len(sold)-1).Draw(t, "bought")])
		}
		if bound := proves(unit, need, have); cost < bound*0.999999 {
			t.Errorf("%v suffices for %v, and the prices prove %v", cost, need, bound)
		}
	})
}

// Where pods ask for one thing only, the prices prove nearly what pouring them costs: first onto
// what is there and costs least for its room, then onto what is sold for the least.
func TestPricesOfOneThing(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		need, have, sold := needs(t, 1), rooms(t, "have", 0, 6, 1), rooms(t, "sold", 1, 3, 1)
		a := func(r room) float64 { return r.price / r.size[0] }
		dear := func(x, y room) int { return cmp.Compare(a(x), a(y)) }
		least := a(slices.MinFunc(sold, dear))
		for i := range have { // it was bought for about what is asked today
			have[i].price = have[i].size[0] * least * float64(rapid.IntRange(50, 120).Draw(t, "percent")) / 100
		}
		left, cost := need[0], 0.0
		for _, r := range slices.SortedFunc(slices.Values(have), dear) {
			if n := min(left, r.size[0]); a(r) < least {
				left, cost = left-n, cost+n*a(r)
			}
		}
		cost += left * least
		unit := balance(need, have, sold)
		if bound := proves(unit, need, have); bound > cost*1.000001 || bound < cost*0.9 {
			t.Errorf("the prices prove %v, and %v is what it costs", bound, cost)
		}
		if left > 0 && (unit[0] < least*0.999999 || unit[0] > least*1.000001) {
			t.Errorf("room has to be bought for %v a unit, and is worth %v", least, unit[0])
		}
	})
}
