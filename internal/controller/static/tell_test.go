package static

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
)

// What keeps a pool from its number is logged once. A new pool whose class is not
// ready yet says so by its own conditions, and nothing is said here.
func TestWhatIsMissingIsTold(t *testing.T) {
	var lines []string
	c := &Controller{
		Client: apitest.New(t, clock.Wall), Log: funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}), told: map[world.PoolID]lack{},
	}
	lacks := func(code reason.Code) plan.Plan {
		return plan.Plan{Static: []plan.Static{{Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Replicas: 3, Missing: 3, Why: &reason.Why{Code: code}}}}
	}
	for range 2 {
		c.tell(t.Context(), lacks(reason.NotReady))
	}
	if len(lines) > 0 {
		t.Errorf("of a pool that is not ready the log says %q", lines)
	}
	for range 2 {
		c.tell(t.Context(), lacks(reason.Limit))
	}
	if len(lines) != 1 || !strings.Contains(lines[0], `"missing"=3`) {
		t.Errorf("of a pool at its limit the log says %q, want one line", lines)
	}
}
