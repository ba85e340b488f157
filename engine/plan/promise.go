package plan

import (
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// Promise is a waiting pod that can be nominated for the node it is sent to.
type Promise struct {
	Pod  *world.Pod
	Node string
}

// Promises are those of the pods sent to nodes that can be nominated for them at
// the same time. Who is nominated already comes first; who is by somebody else is left out.
//
// kube-scheduler takes all that are nominated for a node for running there, and
// none of those for other nodes: if too many that are to be spread over zones
// were nominated for one node, each would wait for the others to be gone. As many
// as the skew can be in any case, and more as long as their zone lags behind the others by that many.
func Promises(w *world.World, fills []Fill) []Promise {
	return promises(w, fills, false)
}

// Bindable are those of the pods sent to nodes that zones would not keep away from them
// now, one after the other. Who was nominated and is not among them loses that when kube-scheduler tries it.
func Bindable(w *world.World, fills []Fill) []Promise { return promises(w, fills, true) }

func promises(w *world.World, fills []Fill, now bool) []Promise {
	c := crowd{world: w, now: now, promised: map[string][]*world.Pod{}, counts: map[string]map[string]int{}}
	var out []Promise
	for _, already := range []bool{true, false} {
		for _, f := range fills {
			for _, key := range f.Pods {
				p := w.Pod(key)
				if p == nil || p.Node != "" || p.Done || p.Nominated != "" && !p.Promised || (p.Nominated == f.Node) != already {
					continue
				}
				if c.admits(p, f.Node) {
					out = append(out, Promise{p, f.Node})
				}
			}
		}
	}
	return out
}

// crowd is pods that are nominated for nodes, and how many like them run in which domain.
type crowd struct {
	world    *world.World
	now      bool // rather than at some time
	promised map[string][]*world.Pod
	counts   map[string]map[string]int // by identity of a constraint, found when first asked for
}

// admits reports whether the pod can be nominated for the node beside the others, and notes that it is.
func (c *crowd) admits(newest *world.Pod, node string) bool {
	all := append(c.promised[node], newest)
	for _, p := range all {
		for i := range p.Spread {
			if s := &p.Spread[i]; !s.Soft && s.Key != label.Hostname && counts(s, p, newest) && !c.bears(all, p, s, node) {
				return false
			}
		}
	}
	c.promised[node] = all
	return true
}

// bears reports whether the pod could be bound although all that are nominated for its node are taken to run there.
func (c *crowd) bears(all []*world.Pod, p *world.Pod, s *world.Spread, node string) bool {
	here := members(all, p, s)
	if here <= s.MaxSkew && !c.now {
		return true
	}
	if s.HonourTaints { // taints come and go with the nodes
		return false
	}
	m := c.world.Place(node)
	if m == nil {
		return false
	}
	domain := m.Labels()[s.Key]
	for other, pods := range c.promised {
		if o := c.world.Place(other); other != node && o != nil && o.Labels()[s.Key] == domain {
			here += members(pods, p, s)
		}
	}
	running := c.running(p, s)
	least := -1
	for d, n := range running {
		if d != domain && (least < 0 || n < least) {
			least = n
		}
	}
	switch {
	case len(running) < s.MinDomains:
		least = 0
	case least < 0:
		return true // there is no other domain to wait for
	}
	return running[domain]+here <= least+s.MaxSkew
}

// members is how many of the pods the constraint of p counts, p itself included.
func members(pods []*world.Pod, p *world.Pod, s *world.Spread) int {
	n := 0
	for _, q := range pods {
		if q == p || counts(s, p, q) {
			n++
		}
	}
	return n
}

// running is how many pods that the constraint counts run in each domain there is or will be soon.
func (c *crowd) running(p *world.Pod, s *world.Spread) map[string]int {
	id := string(label.AppendText(fit.AppendIdentity(spread.AppendIdentity(nil, p), p), s.Key))
	if known := c.counts[id]; known != nil {
		return known
	}
	out := map[string]int{}
	for _, m := range c.world.Places() {
		at := fit.Place{Name: m.Name(), Labels: m.Labels()}
		d := at.Labels[s.Key]
		if d == "" || !s.AnyNode && !fit.Selected(p, &at) {
			continue
		}
		out[d] += 0
		for _, q := range m.Pods {
			if !q.Done && !q.Terminating && counts(s, p, q) {
				out[d]++
			}
		}
	}
	c.counts[id] = out
	return out
}

// counts reports whether q is among the pods that p's constraint spreads.
func counts(s *world.Spread, p, q *world.Pod) bool {
	return q.Namespace == p.Namespace && s.Selector.Match(q.Labels)
}
