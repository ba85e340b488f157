package disrupt

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/world"
)

// A machine is one that pods were just moved to or from if pods came or went there last while some were moved to save, and only for a
// while.
func TestMachinesCountAsJustMovedForAWhile(t *testing.T) {
	began := time.Unix(1_000_000, 500_000_000)
	w := world.NewBuilder()
	for i, after := range []int64{-1, 0, 60, 61} {
		name := fmt.Sprint("c", i)
		if err := w.SetClaim(world.Claim{Name: name, LastPodEvent: began.Unix() + after}); err != nil {
			t.Fatal(err)
		}
	}
	l := looking{}
	for _, c := range []struct {
		after time.Duration
		saved bool // pods begin to be moved then
		want  []string
	}{
		{0, true, []string{"c1", "c2"}},
		{rest, false, []string{"c1", "c2"}},
		{rest + time.Second, false, nil},
	} {
		if c.saved {
			l.saved = append(l.saved, began.Add(c.after))
		}
		if diff := cmp.Diff(c.want, l.justMoved(w.Snapshot(began.Unix()), began.Add(c.after))); diff != "" {
			t.Errorf("after %s, -want +got:\n%s", c.after, diff)
		}
	}
}
