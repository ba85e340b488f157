package nominate_test

import (
	"fmt"
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// city is a World of so many open machines in three zones with 20 pods each, one machine in ten that has joined and
// takes no pods yet, and ten pods that wait for each machine. There is a Deployment for each ten machines, spread over zones.
func city(b *testing.B, machines int) (*world.World, []plan.Fill) {
	b.Helper()
	add := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	build := world.NewBuilder()
	apps := max(machines/10, 1)
	pod := func(app, i int, node string) world.Key {
		name := fmt.Sprint("app-", app)
		p := world.Pod{
			Key: world.Key{Namespace: fmt.Sprint("team-", app%100), Name: fmt.Sprint(name, "-", i, node)}, Labels: map[string]string{"app": name}, Node: node, Waiting: node == "",
			Spread: []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: world.Selector{Some: true, Set: label.SetOf(label.Is("app", name))}}},
		}
		p.UID = p.Key.String()
		add(build.SetPod(p))
		return p.Key
	}
	var fills []plan.Fill
	waiting := 0
	for n := range machines + machines/10 {
		name := fmt.Sprintf("node-%05d", n)
		labels := map[string]string{label.Zone: fmt.Sprint("zone-", n%3)}
		add(build.SetNode(world.Node{Name: name, Labels: labels, Created: 100}))
		add(build.SetClaim(world.Claim{Name: name, Node: name, Created: 50, Labels: labels, Launched: true, Registered: n < machines, Initialized: n < machines}))
		fill := plan.Fill{Node: name, Claim: name}
		if n < machines {
			for i := range 20 {
				pod((n*20+i)%apps, n*20+i, name)
			}
		}
		for range 10 {
			fill.Pods = append(fill.Pods, pod(waiting%apps, waiting, ""))
			waiting++
		}
		fills = append(fills, fill)
	}
	return build.Snapshot(110), fills
}

// The time of both grows as the cluster does, although constraints and pods do so together.
func BenchmarkOpenings(b *testing.B) {
	for _, machines := range []int{500, 2000} {
		w, fills := city(b, machines)
		b.Run(fmt.Sprint(machines), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				nominate.Openings(w, fills, 60)
			}
		})
	}
}

func BenchmarkPromises(b *testing.B) {
	for _, machines := range []int{500, 2000} {
		w, fills := city(b, machines)
		b.Run(fmt.Sprint(machines), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				nominate.Promises(w, fills)
			}
		})
	}
}
