package fit

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// A rule that a World has nothing of places no pod by itself there, and tells none apart.
func TestRulesOfAWorld(t *testing.T) {
	refuses := func(p *world.Pod, at *Place) *reason.Why { return &reason.Why{Code: reason.NoPlace} }
	rules := []*Rule{
		{Name: "always", Why: refuses, Concerns: func(p *world.Pod) bool { return len(p.Ports) > 0 }},
		{Name: "weighted", Why: refuses, Identity: func(b []byte, p *world.Pod) []byte { return label.AppendText(b, p.Namespace) }, Within: func(w *world.World) bool {
			return len(w.Pools()) > 0 && w.Pools()[0].Weight > 0
		}},
	}
	for weight, want := range map[int32]bool{0: false, 1: true} {
		b := world.NewBuilder()
		if err := b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "p"}, Weight: weight}); err != nil {
			t.Fatal(err)
		}
		some := within(b.Snapshot(1), rules)
		one, other := &world.Pod{Key: world.Key{Namespace: "a", Name: "x"}}, &world.Pod{Key: world.Key{Namespace: "b", Name: "x"}}
		standing, filling := &Rules{standing: some}, &Rules{filling: some}
		if got := !filling.Counted(one); got != want {
			t.Errorf("a pool of weight %d: a pod is placed by itself: %t", weight, got)
		}
		if got := len(standing.Uncompiled(one)) > 0; got != want {
			t.Errorf("a pool of weight %d: each place is asked: %t", weight, got)
		}
		for _, r := range []*Rules{standing, filling} {
			if got := string(r.AppendIdentity(nil, one)) != string(r.AppendIdentity(nil, other)); got != want {
				t.Errorf("a pool of weight %d: pods are told apart: %t", weight, got)
			}
		}
		if filling.Counted(&world.Pod{Ports: []world.Port{{Port: 80}}}) {
			t.Errorf("a pool of weight %d: a pod that another rule concerns is counted as room", weight)
		}
	}
	if got := In(world.NewBuilder().Snapshot(1)); len(got.standing) != len(standing) || len(got.filling) != len(filling) {
		t.Errorf("of %d and %d rules an empty World has %d and %d: say in this test which need something of the World, and try them", len(standing), len(filling), len(got.standing), len(got.filling))
	}
}
