package provision_test

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// Plans for worlds like those of the benchmarks, only smaller, can be bound too.
func TestScaleIsValid(t *testing.T) {
	for name, w := range map[string]*world.World{
		"Diverse": enginetest.Diverse(300), "Apps": enginetest.Apps(300), "Tangled": enginetest.Tangled(240), "Steady": enginetest.Steady(20, 200),
	} {
		t.Run(name, func(t *testing.T) {
			p := provision.Decide(w, provision.Options{Steps: 100_000})
			if faults := enginetest.Check(w, p); len(faults) > 0 {
				t.Errorf("%s\n%s", strings.Join(faults, "\n"), p)
			}
			if len(p.Refused) > 0 {
				t.Errorf("every pod finds a place, but these do not:\n%s", p)
			}
		})
	}
}
