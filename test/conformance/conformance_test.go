package conformance

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/test/stage"
)

func TestMain(m *testing.M) {
	// Checks wait much more than they compute, so that more of them than there
	// are processors may run side by side.
	if err := flag.Set("test.parallel", "24"); err != nil {
		panic(err)
	}
	kubetest.Main(m, kubetest.CRDs("../../api/crds"), kubetest.Scheduler, kubetest.Controllers, kubetest.Machines, kubetest.Grace(10*time.Second))
}

// check is one thing that users rely on. Those with a number are known by it.
type check struct {
	name string
	long bool // it is left out unless all are asked for
	run  func(*story)
}

// all reports whether the long checks are asked for.
func all() bool { return os.Getenv("TENON_TEST_CONFORMANCE") == "all" }

// TestConformance runs the checks side by side. When they have ended and their
// pools are deleted, nothing may be left of them.
func TestConformance(t *testing.T) {
	s := stage.Set(t, stage.Options{})
	s.Inside(t, 0, kubetest.Config(t))
	class := s.Class()
	s.Make(t, class)
	t.Run("Check", func(t *testing.T) {
		for _, list := range [][]check{pending(), lives(), pools(), ends(), goings()} {
			for _, c := range list {
				t.Run(c.name, func(t *testing.T) {
					if c.long && !all() {
						t.Skip("it takes long: set TENON_TEST_CONFORMANCE=all to have it as well")
					}
					t.Parallel()
					c.run(tell(t, s, c.name))
				})
			}
		}
	})
	kubetest.Within(t, 2*soon, s.Left)
	s.Drop(t, class)
	tell(t, s, "over").gone(class) // while somebody is there who lets it go
}
