package after

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/world"
)

// allotment gives pods that come to nodes devices of them.
type allotment struct {
	nodes  map[string]*world.Node // that were given from, or were bought
	served map[world.Key]string   // claims that have devices, and of which node
}

// give is the pod with devices of the node, in place of those that it had elsewhere.
func (a *allotment) give(w *world.World, p world.Pod, node string) world.Pod {
	n := a.nodes[node]
	if place := w.Place(node); n == nil && place != nil && place.Node != nil {
		own := *place.Node
		own.Devices = slices.Clone(own.Devices)
		n, a.nodes[node] = &own, &own
	}
	if n == nil {
		return p
	}
	p.Devices = slices.Clone(p.Devices)
	var lacking []*world.DeviceClaim
	for i := range p.Devices {
		c := &p.Devices[i]
		if !c.On(node) && a.served[c.Key] != node {
			lacking = append(lacking, c)
		}
	}
	for _, i := range fit.Given(n, lacking) {
		n.Devices[i].Taken = true
	}
	for i := range p.Devices {
		p.Devices[i].Allocated, p.Devices[i].Node = true, node
		a.served[p.Devices[i].Key] = node
	}
	return p
}

// put puts the nodes into the World, with what is taken of them.
func (a *allotment) put(b *world.Builder) error {
	for _, n := range a.nodes {
		if err := b.SetNode(*n); err != nil {
			return err
		}
	}
	return nil
}
