package domain

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
)

// A tally counts as a map would, however many domains come and go.
func TestTally(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		var got Tally
		want := map[int32]int32{}
		domains := rapid.SampledFrom([]int32{3, firstDomains + 2, 5_000}).Draw(t, "domains")
		for range rapid.IntRange(0, 300).Draw(t, "changes") {
			d := rapid.Int32Range(0, domains-1).Draw(t, "domain")
			by := int32(1)
			if want[d] > 0 && rapid.Bool().Draw(t, "less") {
				by = -1
			}
			got.Bump(d, by)
			want[d] += by
		}
		least := None
		for d := range domains {
			if got.In(d) != want[d] {
				t.Fatalf("domain %d has %d, want %d", d, got.In(d), want[d])
			}
			if want[d] > 0 && least == None {
				least = d
			}
		}
		if got.In(None) != 0 || got.Least() != least {
			t.Fatalf("no domain has %d; the first with any is %d, want %d", got.In(None), got.Least(), least)
		}
	})
}

// What came and went leaves no room taken.
func TestTallyForgets(t *testing.T) {
	var x Tally
	for d := int32(firstDomains); d < 100_000; d++ {
		x.Bump(d, 1)
		x.Bump(d, -1)
	}
	if len(x.slots) > 64 {
		t.Errorf("%d slots for nothing that is counted", len(x.slots))
	}
}

// The first domain that holds any is found among many machines, too, in whatever order they were counted.
func TestLeast(t *testing.T) {
	var x Tally
	for _, step := range []struct{ d, by, want int32 }{{900, 1, 900}, {40, 1, 40}, {500, 1, 40}, {39, 1, 39}, {3_000, 1, 39}, {39, -1, 40}, {2, 1, 2}, {2, -1, 40}, {40, -1, 500}} {
		x.Bump(step.d, step.by)
		if got := x.Least(); got != step.want {
			t.Errorf("after %+d in domain %d the first is %d, want %d", step.by, step.d, got, step.want)
		}
	}
}
