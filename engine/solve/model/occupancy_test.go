package model

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/enginetest/problems"
)

// What a node still takes of a class is what a look at everything that everybody on it refuses would say.
func TestBesidesIsWhatEverybodyAllows(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		m := Compile(problems.Drawn(8, 10, true).Draw(t, "problem"))
		if len(m.Classes) == 0 {
			return
		}
		var items []Portion
		for c := range m.Classes {
			if n := rapid.IntRange(0, 3).Draw(t, "items"); n > 0 && rapid.Bool().Draw(t, "there") {
				items = append(items, Portion{int32(c), n})
			}
		}
		var plain, one Occupancy
		plain.Reset(m)
		one.Reset(m)
		for _, it := range items {
			plain.Put(m, it.Class, it.Count)
		}
		for c := range m.Classes {
			one.Put(m, int32(c), 0)
			want, got := plain.Allowed(m, int32(c), 5), one.Besides(m, int32(c), 5, items)
			one.Take(m, int32(c), 0)
			if got != want {
				t.Fatalf("%d items of class %d besides %v, want %d", got, c, items, want)
			}
		}
		if slices.ContainsFunc(slices.Concat(one.Groups, one.refusing), func(n int) bool { return n != 0 }) {
			t.Fatalf("something is left on the floor: %+v", one)
		}
	})
}
