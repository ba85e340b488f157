package provision_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/provision"
)

// Pods that have to share a machine need one that holds all of them: the bound does not pour them into what is left on others.
func TestBoundOfPodsOnOneMachine(t *testing.T) {
	for name, test := range map[string]struct {
		lines []string
		want  money.Micro
	}{
		"Together": {[]string{"pod gang x4 cpu=1 near=host", "pod alone x4 cpu=500m apart=host"}, 700_000},
		"Apart":    {[]string{"pod gang x4 cpu=1", "pod alone x4 cpu=500m apart=host"}, 400_000},
		"SomeWith": {[]string{"pod gang x4 cpu=1 near=host", "pod other cpu=100m app=gang", "pod alone x4 cpu=500m apart=host"}, 400_000},
	} {
		s := enginetest.NewScene()
		for _, line := range append([]string{"type small cpu=2 memory=8Gi price=0.10", "type large cpu=8 memory=32Gi price=0.40", "pool general"}, test.lines...) {
			if err := s.Line(line); err != nil {
				t.Fatal(err)
			}
		}
		p := provision.Decide(s.World(), provision.Options{PreferencePolicy: packing.Ignore, ExactOnly: true})
		if p.Bound > test.want || p.Bound < test.want-100 || p.Expected() < p.Bound { // duals are rounded down
			t.Errorf("%s: the bound is %d, want %d, of a plan that costs %d", name, p.Bound, test.want, p.Expected())
		}
	}
}
