package snapshot

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/world"
)

// Claimed gives every node of a pool a claim that has none, as when somebody saved nodes and not claims.
func Claimed(w *world.World) (out *world.World, alone int, err error) {
	b := w.Edit()
	for _, p := range w.Places() {
		if p.Claim != nil || w.Pool(p.Pool()) == nil {
			continue
		}
		alone++
		if err := b.SetClaim(world.Claim{
			Name: p.Node.Name, Node: p.Node.Name, Pool: p.Node.Pool, Template: w.Pool(p.Node.Pool).Template, Labels: p.Node.Labels,
			Capacity: p.Node.Capacity, Allocatable: p.Node.Allocatable, Launched: true, Registered: true, Initialized: true,
		}); err != nil {
			return nil, 0, fmt.Errorf("claim of node %q: %w", p.Node.Name, err)
		}
	}
	if alone == 0 {
		return w, 0, nil
	}
	return b.Snapshot(w.At()), alone, nil
}
