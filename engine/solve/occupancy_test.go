package solve

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
)

// What a node still takes of a class is what a look at everything that everybody on it refuses would say.
func TestBesidesIsWhatEverybodyAllows(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		m := compile(problems(8, 10, true).Draw(t, "problem"))
		if len(m.classes) == 0 {
			return
		}
		var items []portion
		for c := range m.classes {
			if n := rapid.IntRange(0, 3).Draw(t, "items"); n > 0 && rapid.Bool().Draw(t, "there") {
				items = append(items, portion{int32(c), n})
			}
		}
		var plain, one occupancy
		plain.reset(m)
		one.reset(m)
		for _, it := range items {
			plain.put(m, it.class, it.count)
		}
		for c := range m.classes {
			one.put(m, int32(c), 0)
			want, got := plain.allowed(m, int32(c), 5), one.besides(m, int32(c), 5, items)
			one.take(m, int32(c), 0)
			if got != want {
				t.Fatalf("%d items of class %d besides %v, want %d", got, c, items, want)
			}
		}
		if slices.ContainsFunc(slices.Concat(one.groups, one.refusing), func(n int) bool { return n != 0 }) {
			t.Fatalf("something is left on the floor: %+v", one)
		}
	})
}
