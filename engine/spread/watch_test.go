package spread_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// Watching only what concerns the pending pods changes no answer about them.
func TestWatchIsEnough(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		namespaces := []*world.Namespace{{Name: "d", Labels: map[string]string{"team": "d"}}, {Name: "e", Labels: map[string]string{"team": "e"}}}
		pod := func(name string) *world.Pod {
			p := &world.Pod{
				Key:    world.Key{Namespace: rapid.SampledFrom([]string{"d", "e"}).Draw(t, "namespace"), Name: name},
				Labels: map[string]string{"app": rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "app")},
			}
			for range rapid.IntRange(0, 2).Draw(t, "terms") {
				term := world.PodTerm{
					Anti: rapid.IntRange(0, 3).Draw(t, "anti") > 0, Key: rapid.SampledFrom([]string{label.Zone, label.Hostname}).Draw(t, "key"),
					Weight: rapid.SampledFrom([]int{0, 0, 0, 50}).Draw(t, "weight"),
				}
				term.Selector = rapid.SampledFrom([]world.Selector{picks("x"), picks("y"), {Some: true}, {Some: true, Set: label.SetOf(label.Is("app", "y", "z"))}}).Draw(t, "selector")
				if rapid.Bool().Draw(t, "within") {
					term.Within = world.Selector{Some: true, Set: label.SetOf(label.Is("team", rapid.SampledFrom([]string{"d", "e"}).Draw(t, "team")))}
				} else {
					term.Namespaces = []string{p.Namespace}
				}
				p.PodTerms = append(p.PodTerms, term)
			}
			return p
		}
		var waiting, running []*world.Pod
		for i := range rapid.IntRange(1, 3).Draw(t, "waiting") {
			waiting = append(waiting, pod(fmt.Sprint("waiting-", i)))
		}
		for i := range rapid.IntRange(0, 6).Draw(t, "running") {
			running = append(running, pod(fmt.Sprint("running-", i)))
		}
		narrow, full := spread.New(namespaces), spread.New(namespaces)
		for _, p := range waiting {
			narrow.Enlist(p)
			full.Enlist(p)
		}
		narrow.Watch((&world.Place{Pods: running}).AntiAffinity(), waiting)
		for _, p := range running {
			full.Enlist(p)
		}
		places := nodes("a", "a", "b")
		for n, at := range places {
			narrow.Enter(at)
			full.Enter(at)
			for i, p := range running {
				if i%len(places) == n {
					narrow.Run(p, n)
					full.Run(p, n)
				}
			}
		}
		for _, p := range waiting {
			a, b := narrow.PodInfo(p), full.PodInfo(p)
			for n := range places {
				if got, want := narrow.Allows(a, n), full.Allows(b, n); got != want {
					t.Fatalf("%s on node %d: allowed %t, with everything counted %t", p.Name, n, got, want)
				}
			}
		}
	})
}
