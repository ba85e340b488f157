package consolidate_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/world"
)

// begun is the World in which the commands have been begun: what they buy has joined, and their nodes are marked.
func begun(w *world.World, commands []consolidate.Command) (*world.World, []consolidate.Begun) {
	b := w.Edit()
	var out []consolidate.Begun
	for _, c := range commands {
		var bought []string
		for _, a := range c.New {
			shapes := w.CatalogFor(a.Pool, a.Template).Shapes
			i := slices.IndexFunc(shapes, func(s world.Shape) bool { return s.Name == a.Shape })
			enginetest.Join(b, w.Pool(a.Pool), &shapes[i], "new-"+a.Name, a.Zone, a.CapacityType)
			claim := *b.Snapshot(w.At()).Place("new-" + a.Name).Claim
			claim.Pods = a.Pods
			if err := b.SetClaim(claim); err != nil {
				panic(err)
			}
			bought = append(bought, claim.Name)
		}
		for _, g := range c.Back {
			n := *w.Place(g.Node).Node
			n.Taints = append(slices.Clone(n.Taints), world.Taint{Key: "karpenter.sh/disrupted", Effect: world.NoSchedule})
			if err := b.SetNode(n); err != nil {
				panic(err)
			}
		}
		out = append(out, c.Begun(bought...))
	}
	return b.Snapshot(w.At()), out
}

// What was begun holds as long as nothing changes. Another decision counts on
// it: what both do together is allowed, and within budgets.
func TestWhatWasBegunHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := worlds().Draw(t, "world")
		s.world = enginetest.Settled(s.world)
		o := options(t)
		first := consolidate.Decide(s.world, o)
		some := slices.DeleteFunc(slices.Clone(first.Commands), func(c consolidate.Command) bool { return c.Why != nil })
		some = some[:rapid.IntRange(0, len(some)).Draw(t, "begin")]
		var w *world.World
		w, o.Begun = begun(s.world, some)
		for i, why := range consolidate.Holds(w, o) {
			if why != nil {
				t.Fatalf("%v does not hold: %s\n%s", o.Begun[i].Back, why, s.text)
			}
		}
		second := consolidate.Decide(w, o)
		carried, q := ended(w, some), started(second)
		if faults := enginetest.Check(without(carried, q.Back), q); len(faults) > 0 {
			t.Fatalf("%s\n\n%s\n\n%s", strings.Join(faults, "\n"), s.text, tell(q))
		}
		going := map[world.PoolID]int{}
		for _, c := range some {
			for _, g := range c.Back {
				going[g.Pool]++
			}
		}
		for _, g := range q.Back {
			going[g.Pool]++
		}
		for _, pool := range w.Pools() {
			for _, b := range pool.Disruption.Budgets {
				if b.Nodes == "1" && going[pool.ID] > 1 && !o.Unbudgeted {
					t.Fatalf("%d of %s go\n%s", going[pool.ID], pool.ID.Name, s.text)
				}
			}
		}
	})
}

// ended is the World in which the commands that were begun have been carried out.
func ended(w *world.World, commands []consolidate.Command) *world.World {
	b := w.Edit()
	bind := func(keys []world.Key, node string) {
		for _, k := range keys {
			pod := *w.Pod(k)
			pod.Node = node
			if err := b.SetPod(pod); err != nil {
				panic(err)
			}
		}
	}
	for _, c := range commands {
		for _, a := range c.New {
			bind(a.Pods, "new-"+a.Name)
		}
		for _, f := range c.Moves {
			bind(f.Pods, f.Node)
		}
		for _, g := range c.Back {
			for _, p := range w.Place(g.Node).Pods {
				if !p.Moves() {
					b.DeletePod(p.Key)
				}
			}
			b.DeleteNode(g.Node)
			b.DeleteClaim(g.Claim)
		}
	}
	return b.Snapshot(w.At())
}

// Who remembers only which machines go and what was bought finds places for the pods, too.
func TestWhatWasBegunIsRemembered(t *testing.T) {
	w := enginetest.Shrunk(1000, 3)
	p := consolidate.Decide(w, consolidate.Options{Unbudgeted: true})
	w, all := begun(w, p.Commands)
	for i := range all {
		all[i].Moves = nil
	}
	lost := 0
	for i, why := range consolidate.Holds(w, consolidate.Options{Begun: all}) {
		if why != nil {
			lost++
			t.Logf("%v: %s", all[i].Back, why.Line())
		}
	}
	if lost*20 > len(all) {
		t.Errorf("%d of %d commands do not hold", lost, len(all))
	}
}
