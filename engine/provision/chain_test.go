package provision_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/provision"
)

// Pods that each wait for the next by name are placed with work that grows with their number, not with its square.
func TestChain(t *testing.T) {
	const n = 400
	steps := map[int]int{}
	for _, pods := range []int{n, 8 * n} {
		p := provision.Decide(enginetest.Chain(pods), provision.Options{})
		if len(p.Refused) > 0 {
			t.Errorf("every pod of a chain finds a place, but of %d these do not:\n%s", pods, p)
		}
		steps[pods] = p.Steps
	}
	if most := 3 * 8 * steps[n]; steps[8*n] > most {
		t.Errorf("%d pods take %d steps, want at most %d, as %d take %d", 8*n, steps[8*n], most, n, steps[n])
	}
}
