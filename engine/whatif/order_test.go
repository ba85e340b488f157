package whatif_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
)

// An order finds the machine that a look at every one of them finds, whatever was done to them since it was made.
func TestOrderFindsTheBest(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		var lines []string
		n := rapid.IntRange(1, 70).Draw(t, "machines")
		for i := range n {
			lines = append(lines, fmt.Sprintf("node n%d cpu=%d memory=%dGi", i, rapid.IntRange(1, 4).Draw(t, "cpu"), rapid.IntRange(1, 16).Draw(t, "memory")))
			for j := range rapid.IntRange(0, 5).Draw(t, "pods") {
				apart := ""
				if rapid.IntRange(0, 5).Draw(t, "apart") == 0 {
					apart = " apart=host"
				}
				lines = append(lines, fmt.Sprintf("pod p%d-%d cpu=%dm memory=%dMi node=n%d%s", i, j, rapid.SampledFrom([]int{0, 100, 250, 500, 1000}).Draw(t, "needs"),
					rapid.SampledFrom([]int{0, 128, 512, 2048}).Draw(t, "remembers"), i, apart))
			}
		}
		c := cluster(t, lines...)
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		c.Clear(0)
		o := c.Order(slices.Clone(all[:rapid.IntRange(0, n).Draw(t, "offered")]))
		cleared := map[int]bool{0: true}
		do := func() {
			for range rapid.IntRange(1, 6).Draw(t, "changes") {
				switch i := rapid.IntRange(0, n-1).Draw(t, "machine"); {
				case rapid.IntRange(0, 9).Draw(t, "appends") == 0 && !o.Has(i):
					o.Append(i)
				case !cleared[i]:
					cleared[i] = true
					c.Clear(i)
				}
			}
			for k := 0; k < c.Unplaced(); k++ {
				chosen, scanned := c.Choose(o, k)
				if chosen != scanned {
					t.Fatalf("pod %d goes to %d, and to %d where all are looked at\n%s", k, chosen, scanned, lines)
				}
				if chosen >= 0 && rapid.IntRange(0, 3).Draw(t, "joins") > 0 {
					c.Join(k, chosen)
				}
			}
		}
		do()
		kept := o.Len()
		mark, before := c.Mark(), maps.Clone(cleared)
		do()
		if rapid.Bool().Draw(t, "undone") {
			c.Undo(mark)
			cleared = before
			o.Cut(kept)
		}
		do()
		do()
	})
}
