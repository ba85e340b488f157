package enact

import (
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
	mu   sync.Mutex
	at   time.Time
	last map[string]plan.Opening
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
	o.at, o.last = now, map[string]plan.Opening{}
	for _, x := range plan.Openings(w, e.Targets.fills(w), int64(patience/time.Second)) {
		o.last[x.Node] = x
	}
	if x, known := o.last[node]; known {
		return x
	}
	m := w.Place(node) // not seen yet, or it takes pods already
	return plan.Opening{Node: node, Open: m != nil && m.Node != nil && !plan.Closed(m)}
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
