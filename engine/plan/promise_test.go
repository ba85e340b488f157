package plan_test

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

func TestPromisable(t *testing.T) {
	pod := func(name, app string, spread ...world.Spread) *world.Pod {
		for i := range spread {
			spread[i].Selector = world.Selector{Some: true, Set: label.SetOf(label.Is("app", app))}
		}
		return &world.Pod{Key: world.Key{Name: name}, Labels: map[string]string{"app": app}, Spread: spread}
	}
	zone := func(most int) world.Spread { return world.Spread{Key: label.Zone, MaxSkew: most} }
	soft := world.Spread{Key: label.Zone, MaxSkew: 1, Soft: true}
	host := world.Spread{Key: label.Hostname, MaxSkew: 1}
	tests := map[string]struct {
		why  string
		pods []*world.Pod
		want string
	}{
		"Plain":  {"Nothing is counted.", []*world.Pod{pod("a", "x"), pod("b", "x")}, "a b"},
		"Zone":   {"Each would see the other in its zone and wait for ever.", []*world.Pod{pod("a", "x", zone(1)), pod("b", "x", zone(1)), pod("c", "y", zone(1))}, "a c"},
		"Skew":   {"So many may be ahead.", []*world.Pod{pod("a", "x", zone(2)), pod("b", "x", zone(2)), pod("c", "x", zone(2))}, "a b"},
		"Others": {"One that is counted without being spread itself crowds the zone as well.", []*world.Pod{pod("a", "x", zone(1)), pod("b", "x")}, "a"},
		"Soft":   {"It keeps nobody waiting.", []*world.Pod{pod("a", "x", soft), pod("b", "x", soft)}, "a b"},
		"Host":   {"One node is one domain, so what others wait for does not matter.", []*world.Pod{pod("a", "x", host), pod("b", "y", host)}, "a b"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range plan.Promisable(tc.pods) {
				got = append(got, p.Name)
			}
			if text := strings.Join(got, " "); text != tc.want {
				t.Errorf("%s, want %s: %s", text, tc.want, tc.why)
			}
		})
	}
}
