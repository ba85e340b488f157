package disrupt

import (
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// After is the World in which what a plan gives back has been given back: every
// machine that it buys became what it was planned as.
func After(w *world.World, p plan.Plan) (*world.World, error) {
	b := w.Edit()
	devices := allotment{nodes: map[string]*world.Node{}, served: map[world.Key]string{}}
	bind := func(keys []world.Key, node string) error {
		for _, k := range keys {
			pod := *w.Pod(k)
			if len(pod.Devices) > 0 {
				pod = devices.give(w, pod, node)
			}
			pod.Node = node
			if err := b.SetPod(pod); err != nil {
				return err
			}
		}
		return nil
	}
	var back []plan.Give
	var bought []plan.Ask
	for _, c := range p.Commands {
		if c.Verdict == plan.Wait && !c.Idle() || c.Verdict == plan.TakeBack {
			continue
		}
		for _, a := range c.New {
			n, err := join(b, w, a)
			if err != nil {
				return nil, err
			}
			if len(n.Devices) > 0 {
				devices.nodes[n.Name] = &n
			}
			if err := bind(a.Pods, a.Name); err != nil {
				return nil, err
			}
		}
		bought = append(bought, c.New...)
		for _, f := range c.Moves {
			if err := bind(f.Pods, f.Node); err != nil {
				return nil, err
			}
		}
		back = append(back, c.Back...)
	}
	if err := devices.put(b); err != nil {
		return nil, err
	}
	if err := plan.Draw(b, w, bought); err != nil {
		return nil, err
	}
	for _, g := range back {
		if p := w.Place(g.Node); p != nil {
			for _, pod := range p.Pods {
				if !pod.Moves() {
					b.DeletePod(pod.Key)
				}
			}
		}
		b.DeleteNode(g.Node)
		b.DeleteClaim(g.Claim)
	}
	return b.Snapshot(w.At()), nil
}

// join has a machine that was asked for join, under the name of what was asked.
func join(b *world.Builder, w *world.World, a plan.Ask) (n world.Node, err error) {
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
