package nodememory

import (
	"fmt"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/internal/catalog"
)

// One node that lies, or is odd, does not shrink its type, and what is believed
// can be mended.
func TestLearn(t *testing.T) {
	all, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	const whole, usual, half = 8 << 30, 8<<30 - 400<<20, 4 << 30
	tests := map[string]struct {
		why  string
		says []int64 // of one node each; negative: of the first node, again
		want int64   // 0: what is reckoned counts
	}{
		"One":        {"A usual node is believed.", []int64{usual}, usual},
		"Least":      {"The least of those that are alike counts.", []int64{usual, usual - 1<<20, usual + 1<<20}, usual - 1<<20},
		"LiesAlone":  {"Half of the memory is missing, and nothing bears it out.", []int64{half}, 0},
		"LiesFirst":  {"A second node shows that the first is odd.", []int64{half, usual}, usual},
		"LiesAfter":  {"What was known stays.", []int64{usual, usual, half}, usual},
		"Mended":     {"The node says otherwise now.", []int64{half, -usual}, usual},
		"Agreed":     {"An image of the user's keeps half for itself: two nodes say so.", []int64{half, half}, half},
		"Outvoted":   {"What two said is outvoted.", []int64{half, half, usual, usual, usual}, usual},
		"Impossible": {"More than there is.", []int64{2 * whole}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := New(all, func() time.Time { return time.Unix(0, 0) })
			for i, says := range tc.says {
				node := fmt.Sprint("node-", i)
				if says < 0 {
					node, says = "node-0", -says
				}
				s.Learn(node, "m5.large", says)
			}
			if got := s.Believed()["m5.large"]; got != tc.want {
				t.Errorf("%s %d is believed, want %d", tc.why, got, tc.want)
			}
			for i := range 1000 { // it does not grow
				s.Learn(fmt.Sprint("more-", i), "m5.large", usual)
			}
			if n := len(s.seen["m5.large"]); n > witnessMany {
				t.Errorf("%d nodes are remembered", n)
			}
			s.now = func() time.Time { return time.Unix(0, 0).Add(2 * witnessKept) }
			if got := s.Believed(); len(got) > 0 {
				t.Errorf("%v is believed for ever", got)
			}
		})
	}
}
