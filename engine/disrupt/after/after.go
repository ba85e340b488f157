// Package after makes the World that a plan of giving back comes to.
package after

import (
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Plan is the World in which what a plan gives back has been given back: every
// machine that it buys became what it was planned as.
func Plan(w *world.World, p plan.Plan) (*world.World, error) {
	next := coming{w: w, b: w.Edit(), devices: allotment{nodes: map[string]*world.Node{}, served: map[world.Key]string{}}}
	var back []plan.Give
	var bought []plan.Ask
	for _, c := range p.Commands {
		if c.Verdict == plan.Wait && !c.Idle() || c.Verdict == plan.TakeBack {
			continue
		}
		if err := next.join(c.New); err != nil {
			return nil, err
		}
		for _, f := range c.Moves {
			if err := next.bind(f.Pods, f.Node); err != nil {
				return nil, err
			}
		}
		bought, back = append(bought, c.New...), append(back, c.Back...)
	}
	if err := next.devices.put(next.b); err != nil {
		return nil, err
	}
	if err := plan.Draw(next.b, w, bought); err != nil {
		return nil, err
	}
	next.end(back)
	return next.b.Snapshot(w.At()), nil
}

// coming is the World after a plan while it is made of w.
type coming struct {
	w       *world.World
	b       *world.Builder
	devices allotment
}

// join has the machines that were asked for join, and binds the pods that they were bought for.
func (x *coming) join(asks []plan.Ask) error {
	for _, a := range asks {
		n, err := joined(x.b, x.w, a)
		if err != nil {
			return err
		}
		if len(n.Devices) > 0 {
			x.devices.nodes[n.Name] = &n
		}
		if err := x.bind(a.Pods, a.Name); err != nil {
			return err
		}
	}
	return nil
}

// bind binds pods to a node, with the devices that they get there.
func (x *coming) bind(keys []world.Key, node string) error {
	for _, k := range keys {
		pod := *x.w.Pod(k)
		if len(pod.Devices) > 0 {
			pod = x.devices.give(x.w, pod, node)
		}
		pod.Node = node
		if err := x.b.SetPod(pod); err != nil {
			return err
		}
	}
	return nil
}

// end ends machines, together with the pods that are not created again elsewhere.
func (x *coming) end(back []plan.Give) {
	for _, g := range back {
		if p := x.w.Place(g.Node); p != nil {
			for _, pod := range p.Pods {
				if !pod.Moves() {
					x.b.DeletePod(pod.Key)
				}
			}
		}
		x.b.DeleteNode(g.Node)
		x.b.DeleteClaim(g.Claim)
	}
}

// joined has a machine that was asked for join, under the name of what was asked.
func joined(b *world.Builder, w *world.World, a plan.Ask) (n world.Node, err error) {
	c := w.CatalogFor(a.Pool, a.Template)
	s := &c.Shapes[slices.IndexFunc(c.Shapes, func(s world.Shape) bool { return s.Name == a.Shape })]
	labels := map[string]string{}
	for _, r := range s.Labels {
		if r.Op() == label.In && len(r.Values) == 1 {
			labels[r.Key] = r.Values[0]
		}
	}
	maps.Copy(labels, a.Labels)
	labels[label.Zone], labels[label.CapacityType], labels[label.Hostname] = a.Zone, a.CapacityType, a.Name
	labels[label.Registered], labels[label.Initialized] = "true", "true"
	if err := b.SetClaim(world.Claim{
		Name: a.Name, Pool: a.Pool, Template: a.Template, Node: a.Name, Labels: labels, Taints: a.Taints, Requirements: a.Requirements,
		Capacity: s.Capacity, Allocatable: s.Allocatable(), Launched: true, Registered: true, Initialized: true,
	}); err != nil {
		return n, err
	}
	n = world.Node{
		Name: a.Name, Claim: a.Name, Pool: a.Pool, Labels: labels, Taints: a.Taints,
		Capacity: s.Capacity, Allocatable: s.Allocatable(), Ready: true, VolumeLimits: s.VolumeLimits,
	}
	if pool := w.Pool(a.Pool); pool != nil {
		n.Devices = slices.Clone(fit.DevicesOf(pool, s))
	}
	return n, b.SetNode(n)
}

// Ask is the World in which a machine that is asked for has joined.
func Ask(w *world.World, a plan.Ask) *world.World {
	b := w.Edit()
	if _, err := joined(b, w, a); err != nil {
		panic("a machine that is asked for is refused: " + err.Error()) // it was made of what is in the World
	}
	return b.Snapshot(w.At())
}
