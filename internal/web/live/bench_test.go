package live

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/world"
)

// BenchmarkLook draws a cluster of 5,000 nodes of which one pod has changed: what each look costs while a page is open.
func BenchmarkLook(b *testing.B) {
	w := enginetest.Steady(5000, 20)
	var v view
	v.next(w, nil)
	i := 0
	for b.Loop() {
		b.StopTimer()
		change := w.Edit()
		change.DeletePod(world.Key{Namespace: "default", Name: fmt.Sprintf("run-%d-%d", i%5000, i/5000)})
		w = change.Snapshot(int64(i))
		i++
		b.StartTimer()
		if _, changed := v.next(w, nil); !changed {
			b.Fatal("nothing has changed")
		}
	}
}

// BenchmarkKeeps asks what keeps each of 5,000 nodes of a pool.
func BenchmarkKeeps(b *testing.B) {
	pool, after := world.PoolID{Kind: world.NodePool, Name: "p"}, int64(30)
	change := world.NewBuilder()
	errs := []error{change.SetPool(world.Pool{ID: pool, Template: "t", Disruption: world.PoolDisruption{EmptyAfter: &after, Budgets: []world.Budget{{Nodes: "10%"}}}})}
	for i := range 5000 {
		node, id := fmt.Sprintf("node-%d", i), fmt.Sprintf("id-%d", i)
		errs = append(errs,
			change.SetNode(world.Node{Name: node, Ready: true, Pool: pool, ProviderID: id}),
			change.SetClaim(world.Claim{Name: fmt.Sprintf("claim-%d", i), Node: node, Pool: pool, Registered: true, Initialized: true, ProviderID: id}),
		)
	}
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
	w := change.Snapshot(100)
	for b.Loop() {
		keeps(w, nil)
	}
}
