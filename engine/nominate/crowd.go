package nominate

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// Crowd is pods that wait, each taken to be nominated for a node, and how many
// like them are in which domain.
type Crowd struct {
	world      *world.World
	census     *Census
	soon       bool // it is enough that they can be bound at some time
	pods       map[string][]*world.Pod
	nominees   map[string][]nominee // all of pods, by namespace
	headcounts map[string][]*headcount
	of         map[*world.Pod][]*headcount
	byName     map[string]*headcount
}

// nominee is a pod of the crowd and the node that it is to be nominated for.
type nominee struct {
	pod  *world.Pod
	node string
}

// headcount is how many pods a constraint counts.
type headcount struct {
	pod      *world.Pod
	spread   *world.Spread
	domains  map[string]string // of each machine that it looks at; the census's
	running  map[string]int    // in each domain that there is or will be soon; the census's
	promised map[string]int
	on       map[string]int // promised for each node
}

// NewCrowd returns an empty crowd. Pods that are admitted to it can be bound
// at once, in whatever order kube-scheduler takes them up.
func NewCrowd(w *world.World) *Crowd { return NewCensus(w).crowd() }

func (s *Census) crowd() *Crowd {
	return &Crowd{
		world: s.world, census: s, pods: map[string][]*world.Pod{}, nominees: map[string][]nominee{}, headcounts: map[string][]*headcount{},
		of: map[*world.Pod][]*headcount{}, byName: map[string]*headcount{},
	}
}

// Admit reports whether the pod can be nominated for the node beside the others, and if so counts it among them.
func (c *Crowd) Admit(p *world.Pod, node string) bool {
	if c.blocks(p, node) != nil {
		return false
	}
	c.pods[node] = append(c.pods[node], p)
	c.nominees[p.Namespace] = append(c.nominees[p.Namespace], nominee{p, node})
	for _, t := range c.headcounts[p.Namespace] {
		t.promise(p, node)
	}
	return true
}

// Allows is Admit without counting the pod.
func (c *Crowd) Allows(p *world.Pod, node string) bool { return c.blocks(p, node) == nil }

// Dismiss takes back that pods were admitted to a node.
func (c *Crowd) Dismiss(node string) {
	left := map[string]bool{} // namespaces
	for _, p := range c.pods[node] {
		left[p.Namespace] = true
	}
	for name := range left {
		for _, t := range c.headcounts[name] {
			t.promised[t.domains[node]] -= t.on[node]
			delete(t.on, node)
		}
		c.nominees[name] = slices.DeleteFunc(c.nominees[name], func(g nominee) bool { return g.node == node })
	}
	delete(c.pods, node)
}

// blocks returns the constraint, of the pod or of one that is nominated for the
// same node, that would not let it be bound there beside the others; nil if there is none.
func (c *Crowd) blocks(newest *world.Pod, node string) *headcount {
	m := c.world.Place(node)
	if m == nil {
		return nil
	}
	for i := -1; i < len(c.pods[node]); i++ {
		p := newest
		if i >= 0 {
			p = c.pods[node][i]
		}
		for _, t := range c.headcountsOf(p) {
			if (p == newest || t.counts(newest)) && !c.bears(t, newest, m) {
				return t
			}
		}
	}
	return nil
}

// bears reports whether a pod of the headcount can be bound to the node although all that are
// nominated for it, and the newest, are taken to run there.
func (c *Crowd) bears(t *headcount, newest *world.Pod, m *world.Place) bool {
	one := 0
	if t.counts(newest) {
		one = 1
	}
	if t.on[m.Name()]+one <= t.spread.MaxSkew && (c.soon || t.spread.HonourTaints) {
		return true
	}
	if t.spread.HonourTaints { // taints come and go with the nodes
		return false
	}
	here := t.domains[m.Name()]
	least := -1
	for d, n := range t.running {
		if d != here && (least < 0 || n < least) {
			least = n
		}
	}
	switch {
	case len(t.running) < t.spread.MinDomains:
		least = 0
	case least < 0:
		return true // there is no other domain to wait for
	}
	return t.running[here]+t.promised[here]+one <= least+t.spread.MaxSkew
}

// headcountsOf are those of the constraints that can keep the pod from a node until others are bound.
func (c *Crowd) headcountsOf(p *world.Pod) []*headcount {
	out, known := c.of[p]
	if known || len(p.Spread) == 0 {
		return out
	}
	for i := range p.Spread {
		if s := &p.Spread[i]; !s.Soft && s.Key != label.Hostname {
			out = append(out, c.headcount(p, s))
		}
	}
	c.of[p] = out
	return out
}

// headcount counts what the constraint of p counts.
func (c *Crowd) headcount(p *world.Pod, s *world.Spread) *headcount {
	id := string(label.AppendText(fit.AppendIdentity(spread.AppendIdentity(nil, p), p), s.Key))
	t := c.byName[id]
	if t != nil {
		return t
	}
	known := c.census.count(id, p, s)
	t = &headcount{pod: p, spread: s, domains: known.at.of, running: known.running, promised: map[string]int{}, on: map[string]int{}}
	for _, g := range c.nominees[p.Namespace] {
		t.promise(g.pod, g.node)
	}
	c.headcounts[p.Namespace] = append(c.headcounts[p.Namespace], t)
	c.byName[id] = t
	return t
}

// promise counts a pod that is to be nominated for a node, if the constraint counts it and looks there.
func (t *headcount) promise(p *world.Pod, node string) {
	if d := t.domains[node]; d != "" && t.counts(p) {
		t.promised[d]++
		t.on[node]++
	}
}

// counts reports whether q is among the pods that the constraint spreads.
func (t *headcount) counts(q *world.Pod) bool {
	return q.Namespace == t.pod.Namespace && t.spread.Selector.Match(q.Labels)
}
