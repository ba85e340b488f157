package nominate

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/terms"
	"github.com/tenon-sh/tenon/engine/world"
)

// Nominations are pending pods, each taken to be nominated for a node, and how many
// like them are in which domain.
type Nominations struct {
	world        *world.World
	counts       *PodCounts
	soon         bool // it is enough that they can be bound at some time
	pods         map[string][]*world.Pod
	nominees     map[string][]nominee // all of pods, by namespace
	spreadCounts map[string][]*spreadCount
	of           map[*world.Pod][]*spreadCount
	byName       map[string]*spreadCount
}

// nominee is a pending pod and the node that it is to be nominated for.
type nominee struct {
	pod  *world.Pod
	node string
}

// spreadCount is how many pods a constraint counts.
type spreadCount struct {
	pod      *world.Pod
	spread   *world.Spread
	domains  map[string]string // of each machine that it looks at; as the counts have them
	running  map[string]int    // in each domain that there is or will be soon; as the counts have them
	promised map[string]int
	on       map[string]int // promised for each node
}

// NewNominations begins without any. Pods that are admitted can be bound
// at once, in whatever order kube-scheduler takes them up.
func NewNominations(w *world.World) *Nominations { return NewPodCounts(w).nominations() }

func (s *PodCounts) nominations() *Nominations {
	return &Nominations{
		world: s.world, counts: s, pods: map[string][]*world.Pod{}, nominees: map[string][]nominee{}, spreadCounts: map[string][]*spreadCount{},
		of: map[*world.Pod][]*spreadCount{}, byName: map[string]*spreadCount{},
	}
}

// Admit reports whether the pod can be nominated for the node beside the others, and if so counts it among them.
func (c *Nominations) Admit(p *world.Pod, node string) bool {
	if c.blocks(p, node) != nil {
		return false
	}
	c.pods[node] = append(c.pods[node], p)
	c.nominees[p.Namespace] = append(c.nominees[p.Namespace], nominee{p, node})
	for _, t := range c.spreadCounts[p.Namespace] {
		t.promise(p, node)
	}
	return true
}

// Allows is Admit without counting the pod.
func (c *Nominations) Allows(p *world.Pod, node string) bool { return c.blocks(p, node) == nil }

// Withdraw takes back that pods were admitted to a node.
func (c *Nominations) Withdraw(node string) {
	left := map[string]bool{} // namespaces
	for _, p := range c.pods[node] {
		left[p.Namespace] = true
	}
	for name := range left {
		for _, t := range c.spreadCounts[name] {
			t.promised[t.domains[node]] -= t.on[node]
			delete(t.on, node)
		}
		c.nominees[name] = slices.DeleteFunc(c.nominees[name], func(g nominee) bool { return g.node == node })
	}
	delete(c.pods, node)
}

// blocks returns the constraint, of the pod or of one that is nominated for the
// same node, that would not let it be bound there beside the others; nil if there is none.
func (c *Nominations) blocks(newest *world.Pod, node string) *spreadCount {
	m := c.world.Place(node)
	if m == nil {
		return nil
	}
	for i := -1; i < len(c.pods[node]); i++ {
		p := newest
		if i >= 0 {
			p = c.pods[node][i]
		}
		for _, t := range c.spreadCountsOf(p) {
			if (p == newest || t.counts(newest)) && !c.admits(t, newest, m) {
				return t
			}
		}
	}
	return nil
}

// admits reports whether a pod that the constraint counts can be bound to the node although all that are
// nominated for it, and the newest, are taken to run there.
func (c *Nominations) admits(t *spreadCount, newest *world.Pod, m *world.Place) bool {
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

// spreadCountsOf are those for the constraints that can keep the pod from a node until others are bound.
func (c *Nominations) spreadCountsOf(p *world.Pod) []*spreadCount {
	out, known := c.of[p]
	if known || len(p.Spread) == 0 {
		return out
	}
	for i := range p.Spread {
		if s := &p.Spread[i]; !s.Soft && s.Key != label.Hostname {
			out = append(out, c.spreadCount(p, s))
		}
	}
	c.of[p] = out
	return out
}

// spreadCount is what the constraint s of p counts.
func (c *Nominations) spreadCount(p *world.Pod, s *world.Spread) *spreadCount {
	id := string(label.AppendText(fit.AppendIdentity(terms.AppendIdentity(nil, p), p), s.Key))
	t := c.byName[id]
	if t != nil {
		return t
	}
	known := c.counts.count(id, p, s)
	t = &spreadCount{pod: p, spread: s, domains: known.at.of, running: known.running, promised: map[string]int{}, on: map[string]int{}}
	for _, g := range c.nominees[p.Namespace] {
		t.promise(g.pod, g.node)
	}
	c.spreadCounts[p.Namespace] = append(c.spreadCounts[p.Namespace], t)
	c.byName[id] = t
	return t
}

// promise counts a pod that is to be nominated for a node, if the constraint counts it and looks there.
func (t *spreadCount) promise(p *world.Pod, node string) {
	if d := t.domains[node]; d != "" && t.counts(p) {
		t.promised[d]++
		t.on[node]++
	}
}

// counts reports whether q is among the pods that the constraint spreads.
func (t *spreadCount) counts(q *world.Pod) bool {
	return q.Namespace == t.pod.Namespace && t.spread.Selector.Match(q.Labels)
}
