package provision_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// (D-18) A pool whose machines did not register is bought from last if that is chosen, and by its weight otherwise: it is still
// bought from where no other will do.
func TestUnhealthyPoolsLast(t *testing.T) {
	for name, tc := range map[string]struct {
		why       string
		unhealthy []string
		other     bool // there is another pool
		options   provision.Options
		want      string
	}{
		"Healthy": {"The weight decides.", nil, true, provision.Options{UnhealthyLast: true}, "heavy"},
		"Off":     {"The weight decides.", []string{"heavy"}, true, provision.Options{}, "heavy"},
		"Last":    {"It ranks behind the other.", []string{"heavy"}, true, provision.Options{UnhealthyLast: true}, "light"},
		"Both":    {"Neither is better, so the weight decides.", []string{"heavy", "light"}, true, provision.Options{UnhealthyLast: true}, "heavy"},
		"Alone":   {"There is no other.", []string{"heavy"}, false, provision.Options{UnhealthyLast: true}, "heavy"},
	} {
		t.Run(name, func(t *testing.T) {
			s := enginetest.NewScene()
			lines := []string{"type large cpu=2 memory=8Gi price=0.10 zones=a", "pool heavy weight=100", "pod a cpu=1"}
			if tc.other {
				lines = append(lines, "pool light")
			}
			for _, l := range lines {
				if err := s.Line(l); err != nil {
					t.Fatal(err)
				}
			}
			e := s.World().Edit()
			for _, name := range tc.unhealthy {
				p := *s.World().Pool(world.PoolID{Kind: world.NodePool, Name: name})
				p.Unhealthy = true
				if err := e.SetPool(p); err != nil {
					t.Fatal(err)
				}
			}
			p := provision.Decide(e.Snapshot(1_000_000), tc.options)
			if len(p.New) != 1 || p.New[0].Pool.Name != tc.want {
				t.Errorf("%v is bought, want one of %s: %s", p.New, tc.want, tc.why)
			}
		})
	}
}
