package enginetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// The checker below shares no rule with the engine: it counts everything from
// nothing for every question, as kube-scheduler's documentation describes it.

// nodeInfo is a node as the checker sees it.
type nodeInfo struct {
	name     string
	labels   map[string]string
	taints   []world.Taint
	room     amount.List // allocatable less what does not wait
	limits   []world.DriverLimit
	cordoned bool
	closed   bool // going away
	chosen   bool // planned in a pool with minValues, which may keep pods off
	devices  []world.Device
	lost     []world.DevicePool
	forming  bool // its devices are those that its pool states
	pods     []*world.Pod
}

// Check returns what is wrong with the plan; nil if kube-scheduler could bind
// all its pods in some order, limits hold, and every refusal is right.
func Check(w *world.World, p plan.Plan) []string {
	c := checker{w: w, nodes: map[string]*nodeInfo{}}
	c.there()
	c.planned(p)
	c.bind(p)
	c.limits(p)
	c.refusals(p)
	c.complete(p)
	return c.faults
}

type checker struct {
	w      *world.World
	nodes  map[string]*nodeInfo
	order  []*nodeInfo
	target map[world.Key]*nodeInfo
	before map[*nodeInfo][]*world.Pod
	faults []string
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

func (c *checker) add(s *nodeInfo) {
	if c.nodes[s.name] != nil {
		c.fault("two nodes are called %s", s.name)
	}
	c.nodes[s.name] = s
	c.order = append(c.order, s)
}

func (c *checker) there() {
	for _, m := range c.w.Places() {
		if m.Node == nil {
			continue // scenarios with claims on their way are written by hand, not generated
		}
		s := &nodeInfo{
			name: m.Name(), labels: m.Node.Labels, taints: m.Node.Taints, room: m.Node.Allocatable, limits: c.attachments(m),
			cordoned: m.Node.Cordoned, closed: m.Deleting(),
		}
		for _, p := range m.Pods {
			if m.Deleting() && p.DaemonSet == "" {
				continue
			}
			s.pods = append(s.pods, p)
		}
		c.daemons(s, m)
		c.equip(s, m)
		c.add(s)
	}
}

// attachments is how many volumes of each driver a node takes. Its drivers may
// register only after it has joined: until it is initialized, what its type says
// counts where the node says nothing yet.
func (c *checker) attachments(m *world.Place) []world.DriverLimit {
	out := slices.Clone(m.Node.VolumeLimits)
	if m.Claim == nil || m.Claim.Initialized {
		return out
	}
	catalog := c.w.CatalogFor(m.Claim.Pool, m.Claim.Template)
	if catalog == nil {
		return out
	}
	for i := range catalog.Shapes {
		if catalog.Shapes[i].Name != m.Labels()[label.InstanceType] {
			continue
		}
		for _, l := range catalog.Shapes[i].VolumeLimits {
			if !slices.ContainsFunc(m.Node.VolumeLimits, func(o world.DriverLimit) bool { return o.Driver == l.Driver }) {
				out = append(out, l)
			}
		}
	}
	return out
}

// daemons takes off what daemon sets that do not run on the node yet will ask for.
func (c *checker) daemons(s *nodeInfo, m *world.Place) {
	for _, d := range c.w.DaemonSets() {
		if m != nil && slices.ContainsFunc(m.Pods, func(p *world.Pod) bool { return p.DaemonSet == d.Name && p.Namespace == d.Namespace }) {
			continue
		}
		if selected(&d.Pod, s) && tolerated(&d.Pod, s.taints) {
			s.room = s.room.Minus(d.Pod.Requests)
		}
	}
}

// empty is a node of the shape as the pool would buy it by that offer.
func (c *checker) empty(p *world.Pool, shape *world.Shape, o world.Offer, name string, extra map[string]string) *nodeInfo {
	s := &nodeInfo{name: name, labels: map[string]string{}, taints: p.Taints, room: shape.Allocatable(), limits: shape.VolumeLimits}
	for _, r := range shape.Labels {
		if r.Op() == label.In && len(r.Values) == 1 {
			s.labels[r.Key] = r.Values[0]
		}
	}
	maps.Copy(s.labels, p.Labels)
	maps.Copy(s.labels, extra)
	s.labels[label.Zone], s.labels[label.CapacityType], s.labels[label.Hostname] = o.Zone, o.CapacityType, name
	s.labels[label.InstanceType] = shape.Name
	if p.ID.Kind == world.Provisioner {
		s.labels[label.Provisioner] = p.ID.Name
	} else {
		s.labels[label.NodePool] = p.ID.Name
	}
	c.daemons(s, nil)
	s.devices = stated(p, s.labels)
	return s
}

func (c *checker) planned(p plan.Plan) {
	reserved := map[string]int{}
	for _, a := range p.New {
		reserved[a.Reservation]++
		c.varied(a)
		pool := c.w.Pool(a.Pool)
		catalog := c.w.CatalogFor(a.Pool, a.Template)
		found := false
		for _, choice := range a.Menu {
			i := slices.IndexFunc(catalog.Shapes, func(s world.Shape) bool { return s.Name == choice.Shape })
			shape := &catalog.Shapes[i]
			for _, o := range shape.Offers {
				z, _ := a.Requirements.Find(label.Zone)
				k, _ := a.Requirements.Find(label.CapacityType)
				if o.Gone || !z.Has(o.Zone) || !k.Has(o.CapacityType) {
					continue
				}
				s := c.empty(pool, shape, o, a.Name, a.Labels)
				s.chosen = slices.ContainsFunc(pool.Requirements, func(r label.Requirement) bool { return r.Least > 0 })
				if choice.Shape == a.Shape && o.Zone == a.Zone && o.CapacityType == a.CapacityType {
					c.add(s)
					found = true
				}
				c.suits(a, s)
				c.drivers(a, s)
			}
		}
		if !found {
			c.fault("%s: what is planned (%s in %s) is not on its menu", a.Name, a.Shape, a.Zone)
			c.add(&nodeInfo{name: a.Name})
		}
	}
	for _, catalog := range c.w.Catalogs() {
		for _, s := range catalog.Shapes {
			for _, o := range s.Offers {
				if o.Reservation != "" && reserved[o.Reservation] > o.Count {
					c.fault("%d machines of reservation %s, which has %d", reserved[o.Reservation], o.Reservation, o.Count)
				}
			}
		}
	}
}

// varied checks that the menu keeps the pool's minValues, as the policy Strict wants.
func (c *checker) varied(a plan.Ask) {
	catalog := c.w.CatalogFor(a.Pool, a.Template)
	for _, r := range c.w.Pool(a.Pool).Requirements {
		values := map[string]bool{}
		for _, choice := range a.Menu {
			i := slices.IndexFunc(catalog.Shapes, func(s world.Shape) bool { return s.Name == choice.Shape })
			if l, ok := catalog.Shapes[i].Labels.Find(r.Key); ok {
				values[l.Values[0]] = true
			}
		}
		if len(values) < r.Least {
			c.fault("%s has %d values of %s on its menu, minValues is %d", a.Name, len(values), r.Key, r.Least)
		}
	}
}

// suits checks that a machine the cloud may choose holds the pods of the ask.
func (c *checker) suits(a plan.Ask, s *nodeInfo) {
	var used amount.List
	for _, k := range a.Pods {
		p := c.w.Pod(k)
		used = used.Plus(p.Requests)
		if !selected(p, s) || !tolerated(p, s.taints) {
			c.fault("%s may become %s in %s, where %s may not run", a.Name, s.labels[label.InstanceType], s.labels[label.Zone], k)
		}
	}
	if short, bad := used.Short(s.room); bad {
		c.fault("%s may become %s, which has too little %s: %v", a.Name, s.labels[label.InstanceType], short.Name, short)
	}
}

// bind binds the plan's pods one by one in an order in which it is allowed:
// by priority, and among equals in the first of several orders that works out.
func (c *checker) bind(p plan.Plan) {
	target := map[world.Key]*nodeInfo{}
	for _, a := range p.New {
		for _, k := range a.Pods {
			target[k] = c.nodes[a.Name]
		}
	}
	for _, f := range p.Filled {
		for _, k := range f.Pods {
			target[k] = c.nodes[f.Node]
		}
	}
	c.target, c.before = target, map[*nodeInfo][]*world.Pod{}
	for _, s := range c.order {
		c.before[s] = slices.Clone(s.pods)
	}
	var stuck map[world.Key]*nodeInfo
	for _, order := range []func(a, b *world.Pod) int{byTerms, byName, func(a, b *world.Pod) int { return byName(b, a) }} {
		for s, pods := range c.before {
			s.pods = slices.Clone(pods)
		}
		if stuck = c.bindBy(maps.Clone(target), order); len(stuck) == 0 {
			return
		}
	}
	for k, s := range stuck {
		c.fault("%s cannot be bound to %s: %s", k, s.name, c.admits(c.w.Pod(k), s))
	}
}

func byName(a, b *world.Pod) int { return strings.Compare(a.String(), b.String()) }

// byTerms puts pods first that constrain no others.
func byTerms(a, b *world.Pod) int {
	return cmp.Or(cmp.Compare(len(a.Spread), len(b.Spread)), cmp.Compare(len(a.PodTerms), len(b.PodTerms)), byName(a, b))
}

// bindBy binds as many as it can in the order given, and returns the rest.
func (c *checker) bindBy(target map[world.Key]*nodeInfo, order func(a, b *world.Pod) int) map[world.Key]*nodeInfo {
	for {
		var pods []*world.Pod
		for k := range target {
			pods = append(pods, c.w.Pod(k))
		}
		slices.SortFunc(pods, func(a, b *world.Pod) int { return cmp.Or(cmp.Compare(b.Priority, a.Priority), order(a, b)) })
		bound := 0
		for _, x := range pods {
			if s := target[x.Key]; c.admits(x, s) == "" {
				s.pods = append(s.pods, x)
				delete(target, x.Key)
				bound++
			}
		}
		if bound == 0 || len(target) == 0 {
			return target
		}
	}
}

func (c *checker) limits(p plan.Plan) {
	for _, pool := range c.w.Pools() {
		sum := map[string]int64{}
		count := func(l amount.List) {
			sum[amount.Nodes] += amount.Unit
			for _, e := range l {
				sum[e.Name] += e.Value
				if e.Name == "nvidia.com/gpu" {
					sum[amount.GPU] += e.Value
				}
			}
		}
		for _, m := range c.w.Places() {
			if m.Pool() == pool.ID && m.Node != nil {
				count(m.Node.Capacity)
			}
		}
		before := maps.Clone(sum)
		for _, a := range p.New {
			if a.Pool == pool.ID {
				count(a.Booked)
			}
		}
		for _, l := range pool.Limits {
			if sum[l.Name] > l.Value && sum[l.Name] > before[l.Name] {
				c.fault("pool %s has %s of %s, its limit is %s", pool.ID.Name, amount.Text(l.Name, sum[l.Name]), l.Name, amount.Text(l.Name, l.Value))
			}
		}
	}
}

// refusals checks that no refused pod finds a place in the end.
func (c *checker) refusals(p plan.Plan) {
	for _, r := range p.Refused {
		x := c.w.Pod(r.Pod)
		if x.Gated || !x.Plannable() {
			continue
		}
		for _, s := range c.order {
			if c.admits(x, s) == "" && !s.chosen && c.surely(x, s) {
				c.fault("%s is refused, but %s would take it", r.Pod, s.name)
			}
		}
		if r.Why.Has(reason.Limit) || r.Why.Has(reason.MinValues) {
			continue
		}
		for _, pool := range c.w.Pools() {
			c.buys(pool, x)
		}
	}
}

// buys checks that no machine of the pool would take the pod.
func (c *checker) buys(pool *world.Pool, x *world.Pod) {
	catalog := c.w.CatalogFor(pool.ID, pool.Template)
	for i := range catalog.Shapes {
		shape := &catalog.Shapes[i]
		for _, o := range shape.Offers {
			for _, extra := range settled(pool, shape) {
				s := c.empty(pool, shape, o, "fresh", extra)
				if o.Gone || o.Reservation != "" || !pool.Requirements.Match(s.labels) {
					continue
				}
				c.order = append(c.order, s)
				if c.admits(x, s) == "" && c.stays(x, s) && c.surely(x, s) {
					c.fault("%s is refused, but a %s of %s in %s with %v would take it", x.Key, shape.Name, pool.ID.Name, o.Zone, extra)
				}
				c.order = c.order[:len(c.order)-1]
			}
		}
	}
}

// settled are the values that labels may come to which the pool leaves open to a few.
func settled(pool *world.Pool, shape *world.Shape) []map[string]string {
	out := []map[string]string{{}}
	for _, r := range pool.Requirements {
		_, fixed := pool.Labels[r.Key]
		_, shapes := shape.Labels.Find(r.Key)
		if fixed || shapes || r.Op() != label.In || slices.Contains([]string{label.Zone, label.CapacityType, label.InstanceType}, r.Key) {
			continue
		}
		var more []map[string]string
		for _, labels := range out {
			for _, v := range r.Values {
				with := maps.Clone(labels)
				with[r.Key] = v
				more = append(more, with)
			}
		}
		out = more
	}
	return out
}

// stays reports whether all the plan's pods of no lower priority could still be bound if the machine were there from the start.
func (c *checker) stays(x *world.Pod, s *nodeInfo) bool {
	target := maps.Clone(c.target)
	target[x.Key] = s
	after := map[*nodeInfo][]*world.Pod{}
	for o := range c.before {
		after[o] = o.pods
		o.pods = slices.Clone(c.before[o])
	}
	stuck := c.bindBy(target, byTerms)
	ok := true
	for k := range stuck {
		ok = ok && c.w.Pod(k).Priority < x.Priority // none is refused for the sake of a lower one
	}
	for o, pods := range after {
		o.pods = pods
	}
	s.pods = nil
	return ok
}

// complete checks that every pod that waits has one verdict.
func (c *checker) complete(p plan.Plan) {
	seen := map[world.Key]int{}
	for _, a := range p.New {
		for _, k := range a.Pods {
			seen[k]++
		}
	}
	for _, fills := range [][]plan.Fill{p.Filled, p.Held} {
		for _, f := range fills {
			for _, k := range f.Pods {
				seen[k]++
			}
		}
	}
	for _, r := range p.Refused {
		seen[r.Pod]++
	}
	for _, x := range c.w.Waiting() {
		if seen[x.Key] != 1 {
			c.fault("%s has %d verdicts", x.Key, seen[x.Key])
		}
	}
	if p.Bound > p.Expected() && len(p.Refused) == 0 {
		c.fault("the bound %d is above the cost %d", p.Bound, p.Expected())
	}
}
