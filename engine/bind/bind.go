// Package bind says whether kube-scheduler could bind pods one after the other where a packing has them, and which of them it could not.
package bind

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/spread"
)

// Possible reports whether all pods could be bound where they are, in some order.
func Possible(k *packing.Packing) bool {
	stuck := Replay(k)
	Readmit(k, stuck)
	return len(stuck) == 0
}

// Replay takes all pods out of the ledger and enters them again as they can be
// bound. It returns those that cannot, which stay out of the ledger.
//
// Whether all can depends on the order where pods count for constraints of others: a domain that some of them fill before
// their turn keeps others out, which are what its other domains wait for. So if any are stuck it is tried again such that
// no domain gets ahead as long as there is another way.
func Replay(k *packing.Packing) []*packing.Pod {
	all := takeAll(k)
	stuck := inOrder(k, slices.Clone(all), impatient)
	if len(stuck) == 0 || !slices.ContainsFunc(all, func(x *packing.Pod) bool { return k.Ledger.Fills(x.Class.PodInfo) }) {
		return stuck
	}
	Readmit(k, stuck)
	evenly := inOrder(k, takeAll(k), patient)
	if len(evenly) < len(stuck) {
		return evenly
	}
	Readmit(k, evenly)
	return inOrder(k, takeAll(k), impatient)
}

// takeAll takes all pods out of the ledger.
func takeAll(k *packing.Packing) []*packing.Pod {
	var all []*packing.Pod
	for _, bins := range [][]*packing.Bin{k.Existing, k.Planned} {
		for _, b := range bins {
			for _, x := range b.Pods {
				k.Ledger.Take(x.Class.PodInfo, b.Node)
				all = append(all, x)
			}
		}
	}
	return all
}

// Readmit enters the pods that Replay left out of the ledger all the same.
func Readmit(k *packing.Packing, stuck []*packing.Pod) {
	for _, x := range stuck {
		k.Ledger.Put(x.Class.PodInfo, x.Bin.Node)
	}
}

// Stable reports whether the pod could be bound where it is once all others are.
func Stable(k *packing.Packing, x *packing.Pod) bool {
	k.Ledger.Take(x.Class.PodInfo, x.Bin.Node)
	fine := k.Ledger.Allows(x.Class.PodInfo, x.Bin.Node)
	k.Ledger.Put(x.Class.PodInfo, x.Bin.Node)
	return fine
}

// AfterOthers reports whether kube-scheduler could bind the pods one after the other, in some order, once all others are bound.
func AfterOthers(k *packing.Packing, pods []*packing.Pod) bool {
	return len(StuckAfterOthers(k, pods)) == 0
}

// StuckAfterOthers are those of the pods that kube-scheduler could not bind one after the other once all others are bound.
func StuckAfterOthers(k *packing.Packing, pods []*packing.Pod) []*packing.Pod {
	rest := slices.Clone(pods)
	packing.SortPods(rest)
	for _, x := range rest {
		k.Ledger.Take(x.Class.PodInfo, x.Bin.Node)
	}
	for len(rest) > 0 {
		var stuck []*packing.Pod
		for _, x := range rest {
			k.Steps++
			if k.Ledger.Allows(x.Class.PodInfo, x.Bin.Node) {
				k.Ledger.Put(x.Class.PodInfo, x.Bin.Node)
				continue
			}
			stuck = append(stuck, x)
		}
		if len(stuck) == len(rest) {
			break
		}
		rest = stuck
	}
	Readmit(k, rest)
	return rest
}

// inOrder enters pods into the ledger where they are, in an order in which
// kube-scheduler can bind them. It returns those that it cannot, in order.
func inOrder(k *packing.Packing, rest []*packing.Pod, m manner) []*packing.Pod {
	packing.SortPods(rest)
	for {
		stuck := once(k, rest, m)
		switch {
		case len(stuck) == 0 || len(stuck) == len(rest) && m == impatient:
			return stuck
		case len(stuck) == len(rest):
			m = impatient
		}
		rest = stuck
	}
}

// manner is whether a pod waits for more than its own terms ask for.
type manner bool

const (
	impatient manner = false
	patient   manner = true // it waits as well while it would fill a domain before others that are emptier
)

// gate is what keeps the pod from its machine now.
func (m manner) gate(k *packing.Packing, x *packing.Pod) (spread.Gate, bool) {
	if gate, shut := k.Ledger.Gate(x.Class.PodInfo, x.Bin.Node); shut || m == impatient {
		return gate, shut
	}
	return k.Ledger.Ahead(x.Class.PodInfo, x.Bin.Node)
}

// once tries every pod, and again those that others were in the way of or
// have drawn along since. What it returns may still not be for ever.
func once(k *packing.Packing, pods []*packing.Pod, m manner) []*packing.Pod {
	waiting := gateQueues{ledger: k.Ledger, queues: map[spread.Gate]*queue{}, gates: map[int32]*gates{}}
	turns := make([]turn, len(pods), 2*len(pods))
	for i, x := range pods {
		turns[i].pod = x
	}
	for i := 0; i < len(turns); i++ {
		x := turns[i].pod
		k.Steps++
		if !x.Held {
			if gate, shut := m.gate(k, x); shut {
				waiting.wait(x, gate)
				continue
			}
		}
		k.Ledger.Put(x.Class.PodInfo, x.Bin.Node)
		turns = waiting.release(turns, turns[i])
	}
	return waiting.left()
}

// gateQueues hold pods that cannot be bound yet, by what keeps them: a pod that waits at one
// gate can go when the one before him could.
type gateQueues struct {
	ledger *spread.Ledger
	queues map[spread.Gate]*queue
	gates  map[int32]*gates // by group
	order  []*queue         // in which pods came to wait there
}

// queue is the pods at one gate, the first of which goes first.
type queue struct{ pods []*packing.Pod }

// gates are those of one group, and how far it had opened them.
type gates struct {
	queues  []*queue
	opening int
}

// turn is a pod to be tried, and the queue that it was the first of, if any.
type turn struct {
	pod  *packing.Pod
	from *queue
}

// wait has a pod wait at the gate.
func (p *gateQueues) wait(x *packing.Pod, gate spread.Gate) {
	q := p.queues[gate]
	if q == nil {
		q = &queue{}
		p.queues[gate] = q
		p.order = append(p.order, q)
		if p.gates[gate.Group] == nil {
			p.gates[gate.Group] = &gates{opening: p.ledger.Opening(gate.Group)}
		}
		g := p.gates[gate.Group]
		g.queues = append(g.queues, q)
	}
	q.pods = append(q.pods, x)
}

// release appends turns for the pods that may be bound now that t's pod is: the one that waited behind it, and
// the first at each gate of the groups that it is a member of, if it opened them further.
func (p *gateQueues) release(turns []turn, t turn) []turn {
	if t.from != nil {
		turns = t.from.next(turns)
	}
	if len(p.gates) == 0 {
		return turns
	}
	for _, id := range t.pod.Class.PodInfo.Members {
		g := p.gates[id]
		if g == nil {
			continue
		}
		if now := p.ledger.Opening(id); now > g.opening {
			g.opening = now
			for _, q := range g.queues {
				turns = q.next(turns)
			}
		}
	}
	return turns
}

// next appends a turn for the first in the queue, if there is one.
func (q *queue) next(turns []turn) []turn {
	if len(q.pods) == 0 {
		return turns
	}
	x := q.pods[0]
	q.pods = q.pods[1:]
	return append(turns, turn{x, q})
}

// left are the pods that still wait, in order.
func (p *gateQueues) left() []*packing.Pod {
	var out []*packing.Pod
	for _, q := range p.order {
		out = append(out, q.pods...)
	}
	packing.SortPods(out)
	return out
}
