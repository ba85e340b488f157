package oracle

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// Tenon is the engine as a planner, with the claims of what it has bought.
type Tenon struct {
	Nominate bool  // pods for the nodes that they are planned for
	Hold     int64 // seconds that a machine which has joined may stay closed to pods

	claims []world.Claim
}

// Plan decides, and has claims tell of their pods as the controller does.
func (t *Tenon) Plan(c *Cluster) (Decision, error) {
	t.join(c)
	w, err := c.world(t.claims...)
	if err != nil {
		return Decision{}, err
	}
	p := provision.Decide(w, provision.Options{Nominated: t.Nominate})
	d := Decision{Waiting: p.Waiting, Refused: len(p.Refused), Bound: p.Bound, Nominated: map[string]string{}}
	for _, a := range p.New {
		m := machine(a)
		d.New, t.claims = append(d.New, m), append(t.claims, c.claim(m, a))
	}
	if len(c.Nodes) > 0 {
		t.remember(p)
	}
	d.Closed = map[string]int64{}
	for _, o := range nominate.Openings(w, p.Filled, t.Hold) {
		if !o.Open {
			d.Closed[o.Node] = o.Until
		}
	}
	if t.Nominate {
		fills := slices.DeleteFunc(slices.Clone(p.Filled), func(f plan.Fill) bool { return f.Node == "" || d.Closed[f.Node] > 0 })
		for _, x := range nominate.Promises(w, fills) {
			d.Nominated[x.Pod.Key.String()] = x.Node
		}
	}
	return d, nil
}

// join has claims tell of the nodes that they have become.
func (t *Tenon) join(c *Cluster) {
	for i := range t.claims {
		x := &t.claims[i]
		if j := slices.IndexFunc(c.Nodes, func(n corev1.Node) bool { return n.Name == x.Name }); j >= 0 {
			open := !closed(&c.Nodes[j])
			x.Node, x.Registered, x.Initialized = x.Name, open, open
		}
	}
}

// remember has claims tell of the pods that are planned for them now.
func (t *Tenon) remember(p plan.Plan) {
	for i := range t.claims {
		t.claims[i].Pods = nil
		for _, f := range p.Filled {
			if t.claims[i].Name == f.Claim {
				t.claims[i].Pods = f.Pods
			}
		}
	}
}

// machine is what an ask becomes when it is started as planned.
func machine(a plan.Ask) Machine {
	return Machine{Name: a.Name, Pool: a.Pool.Name, Shape: a.Shape, Zone: a.Zone, CapacityType: a.CapacityType, Price: a.Price}
}

// claim is what an ask becomes when its machine is started as planned.
func (c *Cluster) claim(m Machine, a plan.Ask) world.Claim {
	n := c.Node(m)
	i := slices.IndexFunc(c.Catalog.Shapes, func(s world.Shape) bool { return s.Name == a.Shape })
	labels := maps.Clone(n.Labels)
	delete(labels, label.Hostname)
	return world.Claim{
		Name: a.Name, Created: c.Now, Pool: a.Pool, Template: a.Template, Labels: labels, Requirements: a.Requirements, Taints: a.Taints, Requests: a.Requests, Booked: a.Booked,
		Launched: true, Capacity: c.Catalog.Shapes[i].Capacity, Allocatable: c.Catalog.Shapes[i].Allocatable(), Pods: a.Pods, ProviderID: n.Spec.ProviderID,
	}
}
