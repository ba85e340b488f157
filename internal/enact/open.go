package enact

import (
	"slices"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// openEvery is how often it is decided which machines are to take pods: those
// of one decision open together.
const openEvery = time.Second

// openings are the last decision on machines that have joined, by node.
type openings struct {
	mu     sync.Mutex
	at     time.Time
	last   map[string]plan.Opening
	census *plan.Census // of the World that was looked at
}

// Opening says whether a node that has joined is to take pods now; it does so at
// the latest when it has been there for as long as patience. Of a node that nobody has seen yet it says no, and
// names no pods that it waits for.
func (e *Enactor) Opening(node string, patience time.Duration) plan.Opening {
	o := &e.openings
	o.mu.Lock()
	defer o.mu.Unlock()
	now := e.Now()
	if x, known := o.last[node]; known && now.Sub(o.at) < openEvery {
		return x
	}
	w := e.Cluster.World()
	o.at, o.last, o.census = now, map[string]plan.Opening{}, plan.NewCensus(w)
	for _, x := range o.census.Openings(e.Targets.fills(w), int64(patience/time.Second)) {
		o.last[x.Node] = x
	}
	if x, known := o.last[node]; known {
		return x
	}
	m := w.Place(node) // not seen yet, or it takes pods already
	return plan.Opening{Node: node, Open: m != nil && m.Node != nil && !plan.Closed(m)}
}

// promises are those of the pods that can be nominated for a node that takes pods now. Nodes that open together
// are looked at in one World: there may be hundreds a second, and each World of its own would be counted anew.
func (e *Enactor) promises(pods []world.Key, node string) []promise {
	o := &e.openings
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := e.Now(); o.census == nil || now.Sub(o.at) >= openEvery || !shows(o.census.World(), pods, node) {
		o.at, o.last, o.census = now, nil, plan.NewCensus(e.Cluster.World())
	}
	var due []promise
	for _, pod := range promisable(o.census, pods, node) {
		if pod.Nominated != node {
			due = append(due, promise{pod, node})
		}
	}
	return due
}

// shows reports whether a World has the node and the pods.
func shows(w *world.World, pods []world.Key, node string) bool {
	return w.Place(node) != nil && !slices.ContainsFunc(pods, func(k world.Key) bool { return w.Pod(k) == nil })
}

// fills are the pods that are on their way to each machine: as the last plan
// says, or, as long as there is none, as the claims tell.
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
