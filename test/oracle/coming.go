package oracle

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// coming is a machine on its way: what it will be, whatever is known of it now.
type coming struct {
	claim world.Claim
	node  corev1.Node // as it will be
	wide  bool        // its claim allows others, so pods may be refused that it would take
}

// passing are taints that machines join with and lose by themselves.
func passing() []corev1.Taint {
	return []corev1.Taint{
		{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute},
		{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule},
		{Key: "example.com/starting", Effect: corev1.TaintEffectNoSchedule},
	}
}

// order puts a machine on its way: asked for, started, or joined and not whole yet.
func (g *generator) order(i int) {
	pool := pick(g, g.Pools...)
	shape := pick(g, g.Catalog.Shapes...)
	p := observe.NodePool(&pool)
	var sold []world.Offer
	for _, o := range shape.Offers {
		if sells(p, shape, o) {
			sold = append(sold, o)
		}
	}
	if len(sold) == 0 {
		return
	}
	o := pick(g, sold...)
	name := fmt.Sprintf("coming-%d", i)
	m := coming{node: g.Node(Machine{Name: name, Pool: p.ID.Name, Shape: shape.Name, Zone: o.Zone, CapacityType: o.CapacityType})}
	m.claim = world.Claim{
		Name: name, Pool: p.ID, Template: class, Labels: maps.Clone(pool.Spec.Template.Labels), Taints: p.Taints, Booked: shape.Capacity,
		Requirements: label.SetOf(label.Is(label.InstanceType, shape.Name), label.Is(label.Zone, o.Zone), label.Is(label.CapacityType, o.CapacityType)),
	}
	switch g.IntN(4) {
	case 0: // it may be another type instead
		m.wide = true
		names := []string{shape.Name}
		for _, s := range g.Catalog.Shapes {
			if slices.ContainsFunc(s.Offers, func(x world.Offer) bool { return x.Zone == o.Zone && sells(p, s, x) }) && g.chance(50) {
				names = append(names, s.Name)
			}
		}
		m.claim.Requirements = m.claim.Requirements.Without(label.InstanceType).And(label.Is(label.InstanceType, names...))
	case 1: // it is started
		g.start(&m, shape)
	case 2: // it has joined
		g.start(&m, shape)
		m.claim.Node, m.claim.Registered, m.claim.ProviderID = name, true, "machine://"+name
		m.claim.StartupTaints = []world.Taint{{Key: "example.com/starting", Effect: world.NoSchedule}}
		n := *m.node.DeepCopy()
		n.Spec.ProviderID = m.claim.ProviderID
		n.Spec.Taints = append(slices.Clone(n.Spec.Taints), passing()[g.IntN(3):]...)
		delete(n.Labels, label.Initialized)
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}}
		g.Nodes = append(g.Nodes, n)
	}
	g.machines = append(g.machines, m)
}

func (g *generator) start(m *coming, shape world.Shape) {
	labels := maps.Clone(m.node.Labels)
	delete(labels, label.Hostname)
	m.claim.Labels, m.claim.Launched, m.claim.Capacity, m.claim.Allocatable = labels, true, shape.Capacity, shape.Allocatable()
}

// arrive puts the machines that were on their way into the question as they will be.
func (c *Cluster) arrive(q *Question) {
	for _, m := range c.machines {
		q.Nodes = slices.DeleteFunc(q.Nodes, func(n corev1.Node) bool { return n.Name == m.node.Name })
		q.Nodes = append(q.Nodes, m.node)
		if m.claim.Node == "" {
			q.Pods = append(q.Pods, c.DaemonPods(&m.node)...)
		}
	}
}

// wide reports whether a machine on its way may become several things.
func (c *Cluster) wide() bool {
	return slices.ContainsFunc(c.machines, func(m coming) bool { return m.wide })
}

// standing is the cluster without what was on its way.
func (c *Cluster) standing() *Cluster {
	for _, m := range c.machines {
		c.Nodes = slices.DeleteFunc(c.Nodes, func(n corev1.Node) bool { return n.Name == m.node.Name })
	}
	c.machines = nil
	return c
}
