package enact

import (
	"slices"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// openEvery is how often it is decided which machines are to take pods, those
// of one decision together; less often where a decision takes longer than that,
// so that half of the time at most goes into them.
const openEvery = time.Second

// openings are the last decision on machines that have joined, by node.
type openings struct {
	mu     sync.Mutex
	until  time.Time                   // when it is decided again
	last   map[string]nominate.Opening // nil: nothing is decided of the World that was looked at
	counts *nominate.PodCounts         // of the World that was looked at; nil: there is none, or it was let go
}

// look freezes the cluster state and does something with its counts of pods, and keeps both for a while.
func (o *openings) look(e *Enactor, do func(*nominate.PodCounts)) {
	start := e.Now()
	o.last, o.counts = nil, nominate.NewPodCounts(e.Cluster.World())
	do(o.counts)
	now := e.Now()
	o.until = now.Add(max(openEvery, now.Sub(start)))
}

// forget lets go of a World that is looked at no more.
func (o *openings) forget(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !now.Before(o.until) {
		o.counts = nil
	}
}

// Opening says whether a node that has joined is to take pods now; it does so at
// the latest when it has been there for as long as patience. Of a node that is not in the World yet it says no, and
// names no pods that it waits for.
func (e *Enactor) Opening(node string, patience time.Duration) nominate.Opening {
	o := &e.openings
	o.mu.Lock()
	defer o.mu.Unlock()
	if x, known := o.last[node]; known && e.Now().Before(o.until) {
		return x
	}
	o.look(e, func(c *nominate.PodCounts) {
		o.last = map[string]nominate.Opening{}
		for _, x := range c.Openings(e.Targets.fills(c.World()), int64(patience/time.Second)) {
			o.last[x.Node] = x
		}
	})
	if x, known := o.last[node]; known {
		return x
	}
	m := o.counts.World().Place(node) // not seen yet, or it takes pods already: it would be among the others if it were closed
	return nominate.Opening{Node: node, Open: m != nil && m.Node != nil}
}

// promises are those of the pods that can be nominated for a node that takes pods now. Nodes that open together
// are looked at in one World: there may be hundreds a second, and each World of its own would be counted again.
func (e *Enactor) promises(pods []world.Key, node string) []promise {
	o := &e.openings
	o.mu.Lock()
	defer o.mu.Unlock()
	var due []promise
	find := func(c *nominate.PodCounts) {
		for _, pod := range promisable(c, pods, node) {
			if pod.Nominated != node {
				due = append(due, promise{pod, node})
			}
		}
	}
	if o.counts != nil && e.Now().Before(o.until) && shows(o.counts.World(), pods, node) {
		find(o.counts)
	} else {
		o.look(e, find)
	}
	return due
}

// shows reports whether a World has the node and the pods.
func shows(w *world.World, pods []world.Key, node string) bool {
	return w.Place(node) != nil && !slices.ContainsFunc(pods, func(k world.Key) bool { return w.Pod(k) == nil })
}

// fills are the pods that are on their way to each machine: as the last plan
// says, or, as long as there is none, as the claims say.
func (t *Targets) fills(w *world.World) []plan.Fill {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []plan.Fill
	for _, m := range w.Places() {
		f := plan.Fill{}
		if m.Node != nil {
			f.Node, f.Pods = m.Node.Name, t.pods[m.Node.Name]
		}
		if m.Claim != nil {
			f.Claim = m.Claim.Name
			if f.Pods == nil {
				f.Pods = t.pods[f.Claim]
			}
			if !t.made {
				f.Pods = m.Claim.Pods
			}
		}
		if len(f.Pods) > 0 {
			out = append(out, f)
		}
	}
	return out
}
