// Package ledger fills a ledger of pods by domain with pods written as lines, for tests of what is asked of it.
package ledger

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/spread/terms"
	"github.com/tenon-sh/tenon/engine/world"
)

// Of is a ledger of pods written as for enginetest.Scene, on two nodes in zone a and one in b. Of the pods
// that say they run on one of them, n0 to n2, each is there; the others are planned.
func Of(t testing.TB, lines ...string) (*spread.Ledger, []*terms.PodInfo) {
	t.Helper()
	scene := enginetest.NewScene()
	for _, line := range lines {
		if err := scene.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	var waiting []*world.Pod
	places := []*world.Place{{}, {}, {}}
	for _, line := range lines { // in the order written
		name := strings.Fields(line)[1]
		switch p := scene.World().Pod(world.Key{Namespace: "default", Name: name}); p.Node {
		case "":
			waiting = append(waiting, p)
		default:
			at := places[p.Node[1]-'0']
			at.Pods = append(at.Pods, p)
		}
	}
	l := spread.New(nil)
	for _, p := range waiting {
		l.Enlist(p)
	}
	l.Share(waiting, places)
	for _, m := range places {
		l.Watch(m.AntiAffinity(), waiting)
	}
	for i, at := range nodes() {
		l.Inhabit(places[i], l.Enter(at))
	}
	var out []*terms.PodInfo
	for _, p := range waiting {
		out = append(out, l.PodInfo(p))
	}
	return l, out
}

func nodes() []*fit.Place {
	var out []*fit.Place
	for i, zone := range []string{"a", "a", "b"} {
		name := fmt.Sprintf("n%d", i)
		out = append(out, &fit.Place{Name: name, Labels: map[string]string{label.Zone: zone, label.Hostname: name}})
	}
	return out
}
