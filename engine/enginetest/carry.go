package enginetest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Carried is the World a moment after the plan was made from w: there is a claim
// for each of its asks, launched as planned or not yet, and the pods still wait.
func Carried(w *world.World, p plan.Plan, launched bool) *world.World {
	b := w.Edit()
	for _, a := range p.New {
		c := world.Claim{
			Name: "claim-" + a.Name, Pool: a.Pool, Template: a.Template, Labels: a.Labels, Requirements: a.Requirements,
			Taints: a.Taints, StartupTaints: a.Startup, Requests: a.Requests, Booked: a.Booked, Pods: a.Pods, Drivers: a.Drivers,
		}
		if launched {
			launch(w.CatalogFor(a.Pool, a.Template), a, &c)
		}
		must(b.SetClaim(c))
	}
	for _, f := range p.Filled {
		for _, k := range f.Pods {
			pod := *w.Pod(k)
			pod.Planned = cmp.Or(f.Node, f.Claim)
			must(b.SetPod(pod))
		}
	}
	if launched {
		must(plan.Draw(b, w, p.New))
	}
	return b.Snapshot(w.At())
}

// launch makes the claim's machine what the plan counts on.
func launch(catalog *world.Catalog, a plan.Ask, c *world.Claim) {
	shape := catalog.Shapes[slices.IndexFunc(catalog.Shapes, func(s world.Shape) bool { return s.Name == a.Shape })]
	c.Launched, c.Capacity, c.Allocatable, c.Labels = true, shape.Capacity, shape.Allocatable(), maps.Clone(a.Labels)
	for _, r := range shape.Labels {
		if r.Op() == label.In && len(r.Values) == 1 {
			c.Labels[r.Key] = r.Values[0]
		}
	}
	c.Labels[label.Zone], c.Labels[label.CapacityType] = a.Zone, a.CapacityType
}

// Bound is the World when the plan made from w has been carried out: its machines
// are nodes, and every pod runs where it was planned.
func Bound(w *world.World, p plan.Plan) *world.World {
	b := Carried(w, p, true).Edit()
	bind := func(pods []world.Key, node string) {
		for _, k := range pods {
			pod := *w.Pod(k)
			pod.Node, pod.Waiting, pod.Nominated = node, false, ""
			allocate(b, w.At(), &pod)
			must(b.SetPod(pod))
		}
	}
	for _, a := range p.New {
		c := *b.Snapshot(w.At()).Place("claim-" + a.Name).Claim
		c.Registered, c.Initialized, c.Node = true, true, "node-"+a.Name
		must(b.SetClaim(c))
		n := world.Node{Name: c.Node, Claim: c.Name, Pool: a.Pool, Labels: maps.Clone(c.Labels), Taints: a.Taints, Capacity: c.Capacity, Allocatable: c.Allocatable, Ready: true}
		n.Devices = stated(w.Pool(a.Pool), n.Labels)
		n.Labels[label.Hostname], n.Labels[label.Registered], n.Labels[label.Initialized] = n.Name, "true", "true"
		must(b.SetNode(n))
		bind(a.Pods, n.Name)
	}
	for _, f := range slices.Concat(p.Filled, p.Held) {
		if f.Node != "" {
			bind(f.Pods, f.Node)
		}
	}
	makeVolumes(b, w.At())
	return b.Snapshot(w.At())
}

// allocate gives the resource claims of a pod that is bound devices of its node.
func allocate(b *world.Builder, at int64, p *world.Pod) {
	if len(p.Devices) == 0 {
		return
	}
	n := *b.Snapshot(at).Place(p.Node).Node
	n.Devices = slices.Clone(n.Devices)
	s, used := &nodeInfo{name: n.Name, devices: n.Devices, lost: n.DevicesLost}, make([]bool, len(n.Devices))
	for i, d := range n.Devices {
		used[i] = d.Taken
	}
	served := map[world.Key]bool{}
	for _, q := range b.Snapshot(at).Place(p.Node).Pods {
		for _, x := range all(q) {
			served[x.Key] = true
		}
	}
	given, _ := grant(s, used, lacking(p, s, served))
	for _, i := range given {
		n.Devices[i].Taken = true
	}
	p.Devices = slices.Clone(p.Devices)
	for i := range p.Devices {
		p.Devices[i].Allocated, p.Devices[i].Node = true, n.Name
	}
	must(b.SetNode(n))
}

// makeVolumes makes the volumes of pods that run, each in the zone of the first of them.
func makeVolumes(b *world.Builder, at int64) {
	places := map[string][]label.Set{}
	for _, m := range b.Snapshot(at).Places() {
		for _, p := range m.Pods {
			pod := *p
			pod.Volumes = slices.Clone(p.Volumes)
			for i := range pod.Volumes {
				v := &pod.Volumes[i]
				if !v.Pending {
					continue
				}
				if places[v.ID] == nil {
					places[v.ID] = []label.Set{label.SetOf(label.Is(label.Zone, m.Labels()[label.Zone]))}
				}
				v.Pending, v.Places = false, places[v.ID]
			}
			must(b.SetPod(pod))
		}
	}
}

// Settled is the World without pods that wait and nodes that are going: a decision that counts on their finding their places knows of more than is there.
func Settled(w *world.World) *world.World {
	b := w.Edit()
	for _, p := range w.Places() {
		if p.Deleting() {
			for _, pod := range p.Pods {
				b.DeletePod(pod.Key)
			}
			b.DeleteNode(p.Name())
		}
	}
	for _, p := range w.Waiting() {
		b.DeletePod(p.Key)
	}
	return b.Snapshot(w.At())
}
