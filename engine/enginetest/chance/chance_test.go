package chance_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
)

// Two checks draw the same, so a run that passed passes again.
func TestDrawsAreTheSame(t *testing.T) {
	t.Setenv(chance.Fresh, "")
	draws := func() (out []uint64) {
		chance.Check(t, func(t *rapid.T) { out = append(out, rapid.Uint64().Draw(t, "number")) })
		return out
	}
	if first, second := draws(), draws(); len(first) == 0 || !slices.Equal(first, second) {
		t.Errorf("the first check drew %d…, the second %d…", first[:3], second[:3])
	}
}
