// Package check says whether an outcome could be: every pod on a node that may take it, by rules written down here once more.
//
// It knows neither the engine nor the peer. It looks at the end state, when all
// pods of the outcome run, and at the rules that the worlds of this program use:
// resources, selectors, taints, ports, spread, affinity and its opposite, pools'
// requirements, limits and prices. Selectors are by the label app alone.
package check

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/bench/outcome"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/world"
)

// Report is what was found.
type Report struct {
	Faults []string `json:"faults"` // what cannot be
	Soft   int      `json:"soft"`   // preferred terms that were honoured
	Wishes int      `json:"wishes"` // preferred terms of placed pods
}

// most is how many faults are told; more of them say nothing new.
const most = 50

// host is a node as it will be.
type host struct {
	name   string
	labels map[string]string
	taints []corev1.Taint
	room   amounts // allocatable
	pods   []*corev1.Pod
}

// checker collects what it finds.
type checker struct {
	in      scenario.Input
	shapes  map[string]world.Shape
	pending map[string]*corev1.Pod
	hosts   []*host
	report  Report
}

// Outcome checks an answer.
func Outcome(in scenario.Input, catalog world.Catalog, out outcome.Outcome) Report {
	c := &checker{in: in, shapes: map[string]world.Shape{}, pending: map[string]*corev1.Pod{}}
	for _, s := range catalog.Shapes {
		c.shapes[s.Name] = s
	}
	for _, p := range in.Pending {
		c.pending[key(p)] = p
	}
	c.existing(out)
	for i, n := range out.New {
		c.buy(fmt.Sprintf("new-%05d", i), n)
	}
	c.everyPodOnce(out)
	c.limits(out)
	for _, h := range c.hosts {
		c.host(h)
	}
	groups(c)
	return c.report
}

func key(p *corev1.Pod) string { return p.Namespace + "/" + p.Name }

func (c *checker) fault(format string, args ...any) {
	if len(c.report.Faults) < most {
		c.report.Faults = append(c.report.Faults, fmt.Sprintf(format, args...))
	}
}

// existing sets up the nodes that are there, with what runs on them and what is added.
func (c *checker) existing(out outcome.Outcome) {
	byName := map[string]*host{}
	for _, n := range c.in.Nodes {
		h := &host{name: n.Name, labels: n.Labels, taints: n.Spec.Taints, room: amountsOf(n.Status.Allocatable)}
		byName[n.Name] = h
		c.hosts = append(c.hosts, h)
	}
	for _, p := range c.in.Bound {
		if h := byName[p.Spec.NodeName]; h != nil {
			h.pods = append(h.pods, p)
		}
	}
	for _, f := range out.Fills {
		h := byName[f.Node]
		if h == nil {
			c.fault("pods are put on node %q, which does not exist", f.Node)
			continue
		}
		h.pods = append(h.pods, c.take(f.Pods)...)
	}
}

// take finds pods by name.
func (c *checker) take(names []string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, name := range names {
		p := c.pending[name]
		if p == nil {
			c.fault("pod %s is placed, but does not wait", name)
			continue
		}
		out = append(out, p)
	}
	return out
}

// buy sets up a new node, with the daemons that will run there.
func (c *checker) buy(name string, n outcome.Node) {
	shape, ok := c.shapes[n.Type]
	at := slices.IndexFunc(c.in.Pools, func(p *karpv1.NodePool) bool { return p.Name == n.Pool })
	if !ok || at < 0 {
		c.fault("%s: no type %q or no pool %q", name, n.Type, n.Pool)
		return
	}
	pool := c.in.Pools[at]
	labels := map[string]string{
		karpv1.LabelNodePool: pool.Name, karpv1.LabelCapacityType: n.CapacityType, karpv1.LabelRegistered: "true", karpv1.LabelInitialized: "true",
		corev1.LabelTopologyZone: n.Zone, corev1.LabelHostname: name,
	}
	for _, r := range shape.Labels {
		if _, set := labels[r.Key]; !set && len(r.Values) == 1 && !r.Not {
			labels[r.Key] = r.Values[0]
		}
	}
	for k, v := range pool.Spec.Template.Labels {
		labels[k] = v
	}
	if !slices.ContainsFunc(shape.Offers, func(o world.Offer) bool {
		return o.Zone == n.Zone && o.CapacityType == n.CapacityType && !o.Gone && float64(o.Price)/1e6 == n.Price
	}) {
		c.fault("%s: %s in %s, %s, is not offered at %v", name, n.Type, n.Zone, n.CapacityType, n.Price)
	}
	for _, r := range pool.Spec.Template.Spec.Requirements {
		if !holds(r, labels) {
			c.fault("%s: %s has %s=%q, which pool %s does not allow", name, n.Type, r.Key, labels[r.Key], pool.Name)
		}
	}
	h := &host{name: name, labels: labels, taints: pool.Spec.Template.Spec.Taints, room: amounts{}}
	for _, e := range shape.Allocatable() {
		h.room[e.Name] = e.Value
	}
	h.pods = c.take(n.Pods)
	for _, d := range c.in.DaemonSets {
		p := &corev1.Pod{ObjectMeta: d.Spec.Template.ObjectMeta, Spec: d.Spec.Template.Spec}
		p.Namespace, p.Name = d.Namespace, d.Name+"-"+name
		if nodeRefuses(p, h) == "" {
			h.pods = append(h.pods, p)
		}
	}
	c.hosts = append(c.hosts, h)
}

// everyPodOnce demands that each waiting pod is placed once, or refused, or was not reached.
func (c *checker) everyPodOnce(out outcome.Outcome) {
	times := map[string]int{}
	for _, n := range out.New {
		for _, p := range n.Pods {
			times[p]++
		}
	}
	for _, f := range out.Fills {
		for _, p := range f.Pods {
			times[p]++
		}
	}
	silent := 0
	for name := range c.pending {
		_, refused := out.Refused[name]
		switch n := times[name]; {
		case n > 1:
			c.fault("pod %s is placed %d times", name, n)
		case n == 1 && refused:
			c.fault("pod %s is placed and refused", name)
		case n == 0 && !refused:
			silent++
		}
	}
	if silent != out.Undecided {
		c.fault("%d pods have no verdict; %d were said to be left over", silent, out.Undecided)
	}
}

// limits demands that no pool is over its limits.
func (c *checker) limits(out outcome.Outcome) {
	used := map[string]amounts{}
	count := func(pool string, more amounts) {
		if used[pool] == nil {
			used[pool] = amounts{}
		}
		used[pool].add(more)
		used[pool].add(amounts{"nodes": 1000})
	}
	for _, n := range c.in.Nodes {
		count(n.Labels[karpv1.LabelNodePool], amountsOf(n.Status.Capacity))
	}
	for _, n := range out.New {
		capacity := amounts{}
		for _, e := range c.shapes[n.Type].Capacity {
			capacity[e.Name] = e.Value
		}
		count(n.Pool, capacity)
	}
	for _, p := range c.in.Pools {
		for name, limit := range amountsOf(p.Spec.Limits) {
			if have := used[p.Name][name]; have > limit {
				c.fault("pool %s: %s is %d, limit %d (thousandths)", p.Name, name, have, limit)
			}
		}
	}
}

// host demands that a node may have each of its pods, and has room for all.
func (c *checker) host(h *host) {
	used := amounts{}
	ports := map[string]string{}
	for _, p := range h.pods {
		used.add(podRequests(p))
		if c.pending[key(p)] == nil {
			continue // it runs there already
		}
		if why := nodeRefuses(p, h); why != "" {
			c.fault("pod %s may not be on %s: %s", key(p), h.name, why)
		}
		for _, port := range hostPorts(p) {
			if other := ports[port]; other != "" {
				c.fault("pods %s and %s share port %s of %s", other, key(p), port, h.name)
			}
			ports[port] = key(p)
		}
		c.wishes(p, h)
	}
	for name, n := range used {
		if n > h.room[name] {
			c.fault("%s: pods ask for %d of %s, there is %d (thousandths)", h.name, n, name, h.room[name])
		}
	}
}

// nodeRefuses says why a pod may not be on a node, whatever else is there.
func nodeRefuses(p *corev1.Pod, h *host) string {
	node := &corev1.Node{}
	node.Name, node.Labels = h.name, h.labels
	if ok, err := nodeaffinity.GetRequiredNodeAffinity(p).Match(node); err != nil || !ok {
		return "its node selector or affinity"
	}
	for _, t := range h.taints {
		if t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerated(p, t) {
			return "taint " + t.ToString()
		}
	}
	return ""
}

func tolerated(p *corev1.Pod, t corev1.Taint) bool {
	return slices.ContainsFunc(p.Spec.Tolerations, func(o corev1.Toleration) bool {
		return (o.Effect == "" || o.Effect == t.Effect) && (o.Key == "" && o.Operator == corev1.TolerationOpExists ||
			o.Key == t.Key && (o.Operator == corev1.TolerationOpExists || o.Value == t.Value))
	})
}

func hostPorts(p *corev1.Pod) []string {
	var out []string
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			if port.HostPort > 0 {
				out = append(out, fmt.Sprintf("%s/%s/%d", strings.TrimPrefix(port.HostIP, "0.0.0.0"), port.Protocol, port.HostPort))
			}
		}
	}
	return out
}
