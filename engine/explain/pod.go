package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Pod is the answer about a pod.
type Pod struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Verdict   Verdict           `json:"verdict"`
	Requests  map[string]string `json:"requests,omitempty"`
	Devices   []string          `json:"devices,omitempty"` // that it asks for, a line for each request of its resource claims
	Priority  int32             `json:"priority,omitempty"`
	Machine   *Machine          `json:"machine,omitempty"` // where it runs or will
	With      int               `json:"with,omitempty"`    // other waiting pods go there too
	Choice    *Choice           `json:"choice,omitempty"`  // why the new node is of its type
	GivenUp   []GivenUp         `json:"givenUp,omitempty"` // soft terms not honoured
	Why       *reason.Why       `json:"why,omitempty"`     // it is refused
	Cause     string            `json:"cause,omitempty"`   // it is leaving
	Gates     []string          `json:"gates,omitempty"`   // it waits for
	Holds     []Hold            `json:"holds,omitempty"`   // with which it keeps its node
	Keeps     bool              `json:"keepsNode"`         // its node does not count as empty because of it
	Next      *Pod              `json:"next,omitempty"`    // its node is going: what becomes of the pod made in its place
}

// Pod answers about a pod; false if there is none of that key.
func (e *Explainer) Pod(k world.Key) (Pod, bool) {
	p := e.world.Pod(k)
	if p == nil {
		return Pod{}, false
	}
	out := Pod{Name: p.Name, Namespace: p.Namespace, Requests: p.Requests.Map(), Devices: devicesOf(p), Priority: p.Priority}
	switch {
	case p.Done:
		out.Verdict = Done
	case p.Node != "":
		e.running(&out, p)
	case p.Gated:
		out.Verdict, out.Gates = Gated, p.Gates
	case p.Terminating || e.world.Ends(p):
		out.Verdict, out.Cause = Leaving, leaving(p)
	default:
		e.waiting(&out, p.Key)
	}
	return out, true
}

// devicesOf says which devices a pod asks for.
func devicesOf(p *world.Pod) (out []string) {
	for i := range p.Devices {
		for _, r := range p.Devices[i].Requests {
			options := make([]string, len(r.Options))
			for j, o := range r.Options {
				options[j] = fmt.Sprintf("%d of class %s", o.Count, o.Class)
				if o.All {
					options[j] = "all of class " + o.Class
				}
			}
			out = append(out, strings.Join(options, ", else "))
		}
	}
	return out
}

// leaving says why no node is bought for a pod that is not needed any more.
func leaving(p *world.Pod) string {
	switch {
	case p.Terminating:
		return "it is being deleted"
	case p.Ending:
		return "its Job is over, suspended or being deleted, and the pod is deleted for that"
	default:
		return "its namespace " + p.Namespace + " is being deleted, and the pod with it"
	}
}

// running says where a pod is and whether it keeps its node.
func (e *Explainer) running(out *Pod, p *world.Pod) {
	out.Verdict = Runs
	at := e.world.Place(p.Node)
	if at == nil {
		out.Machine = &Machine{Node: p.Node, State: NotReady}
		return
	}
	m := e.machine(at)
	out.Machine, out.Keeps = &m, hold.Stays(p)
	if h, held := hold.Keeps(e.world, p); held {
		out.Holds = e.kept(at, []hold.Hold{h})
	}
	if at.Deleting() && e.slot(p.Key) != nil {
		next := Pod{Name: p.Name, Namespace: p.Namespace}
		e.waiting(&next, p.Key)
		out.Next = &next
	}
}

// slot finds what the plan says of a pod.
func (e *Explainer) slot(k world.Key) *slot {
	if e.slots != nil {
		return e.slots[k]
	}
	d := e.plan()
	e.slots = map[world.Key]*slot{}
	for i := range d.New {
		for _, k := range d.New[i].Pods {
			e.slots[k] = &slot{verdict: Buys, ask: &d.New[i]}
		}
	}
	fill := func(v Verdict, fills []plan.Fill) {
		for i := range fills {
			for _, k := range fills[i].Pods {
				e.slots[k] = &slot{verdict: v, fill: &fills[i]}
			}
		}
	}
	fill(Fits, d.Filled)
	fill(Held, d.Held)
	for _, r := range d.Refused {
		e.slots[r.Pod] = &slot{verdict: Refused, why: r.Why}
	}
	for _, l := range d.GivenUp {
		if s := e.slots[l.Pod]; s != nil {
			s.givenUp = append(s.givenUp, GivenUp{l.Term, l.Why})
		}
	}
	return e.slots[k]
}

// waiting says where the plan sends a pod, or why nowhere.
func (e *Explainer) waiting(out *Pod, k world.Key) {
	s := e.slot(k)
	if s == nil {
		out.Verdict = Unjudged
		return
	}
	out.Verdict, out.Why, out.GivenUp = s.verdict, s.why, s.givenUp
	switch {
	case s.ask != nil:
		m := e.planned(*s.ask)
		out.Machine, out.With, out.Choice = &m, len(s.ask.Pods)-1, e.choice(*s.ask)
	case s.fill != nil:
		out.With = len(s.fill.Pods) - 1
		if at := e.find(cmp.Or(s.fill.Node, s.fill.Claim)); at != nil {
			m := e.machine(at)
			out.Machine = &m
		}
	}
}

// Pods answers about every pod that waits, in order.
func (e *Explainer) Pods() []Pod {
	out := []Pod{}
	for _, p := range e.world.Waiting() {
		if a, ok := e.Pod(p.Key); ok {
			out = append(out, a)
		}
	}
	return out
}
