package provision_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

func tell(t *rapid.T, lines []string) *world.World {
	s := enginetest.NewScene()
	for _, line := range lines {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	return s.World()
}

// Every plan can be bound by kube-scheduler in some order, keeps all limits, and refuses nobody who would find a place.
func TestPlanIsValid(t *testing.T) {
	for name, o := range map[string]provision.Options{"Fast": {}, "Exact": {ExactOnly: true}} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				lines := enginetest.Lines().Draw(t, "lines")
				w := tell(t, lines)
				p := provision.Decide(w, o)
				if faults := enginetest.Check(w, p); len(faults) > 0 {
					t.Fatalf("%s\n\n%s\n\n%s", strings.Join(faults, "\n"), strings.Join(lines, "\n"), p.Text(true))
				}
			})
		})
	}
}

// The order in which items are told never matters.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := enginetest.Lines().Draw(t, "lines")
		types := 0
		for types < len(lines) && strings.HasPrefix(lines[types], "type ") {
			types++ // a catalogue is one item, and has an order of its own
		}
		shuffled := append(append([]string{}, lines[:types]...), rapid.Permutation(lines[types:]).Draw(t, "order")...)
		a, b := provision.Decide(tell(t, lines), provision.Options{}), provision.Decide(tell(t, shuffled), provision.Options{})
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("-told in one order +in another\n%s\n%s", diff, strings.Join(lines, "\n"))
		}
	})
}
