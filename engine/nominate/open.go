package nominate

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Opening says whether a machine that has joined, and is closed to pods yet, is to take them now.
type Opening struct {
	Node  string
	Open  bool
	Until int64       // when it takes pods at the latest, seconds since 1970
	Pods  []world.Key // those for whose sake it stays closed
}

// Closed reports whether a machine has joined and takes no pods yet.
func Closed(m *world.Place) bool {
	return m.Node != nil && m.Claim != nil && !m.Claim.Registered && !m.Deleting()
}

// Openings says which of the machines that have joined are to take pods now, of the pods that the fills send to machines.
//
// A machine whose pods can all be bound opens at once. One of which some cannot, because their zone is ahead
// of the others, stays closed while pods are on their way to those others, and for so many seconds at most: kube-scheduler
// keeps no place for a pod that it has to turn down, and the next pod would take it.
// Those that nothing can help any more open together, so that no pod is left to come next.
func Openings(w *world.World, fills []plan.Fill, patience int64) []Opening {
	return NewPodCounts(w).Openings(fills, patience)
}

// Openings is Openings of the World that was counted.
func (s *PodCounts) Openings(fills []plan.Fill, patience int64) []Opening {
	w := s.world
	o := openings{world: w, nominations: s.nominations(), fills: map[string]plan.Fill{}, awaited: map[awaited]bool{}, waiting: map[string][]*world.Pod{}}
	for _, f := range fills {
		o.fills[cmp.Or(f.Node, f.Claim)] = f
	}
	for _, m := range w.Places() {
		switch {
		case m.Node == nil || m.Deleting():
		case Closed(m):
			o.closed = append(o.closed, m)
		default:
			o.admitSome(m.Name())
		}
	}
	slices.SortStableFunc(o.closed, func(a, b *world.Place) int { return cmp.Compare(a.Node.Created, b.Node.Created) })
	return o.decide(patience)
}

// openings is what is known while it is decided.
type openings struct {
	world       *world.World
	nominations *Nominations // of the machines that are open
	fills       map[string]plan.Fill
	closed      []*world.Place // in the order in which they joined
	awaited     map[awaited]bool
	binding     bool // pods are about to be bound

	waiting map[string][]*world.Pod // by machine, as far as they were looked up
	coming  map[string][]comingPod  // by namespace; nil: not gathered yet
}

// comingPod is a pod that waits to be bound to a machine.
type comingPod struct {
	pod *world.Pod
	to  *world.Place
}

func (o *openings) decide(patience int64) []Opening {
	out := make([]Opening, len(o.closed))
	for i, m := range o.closed {
		out[i] = Opening{Node: m.Name(), Until: m.Node.Created + patience}
		if out[i].Until <= o.world.At() {
			out[i].Open = true
			o.admitSome(m.Name())
		}
	}
	stuck := !o.binding
	for i, m := range o.closed {
		if !out[i].Open {
			out[i].Pods = o.admitAll(m.Name())
			out[i].Open = len(out[i].Pods) == 0
		}
		stuck = stuck && !out[i].Open && !o.expects(m)
	}
	for i := range out {
		if stuck {
			out[i].Open = true
		}
	}
	return out
}

// pods are those that wait to be bound to a machine.
func (o *openings) pods(machine string) []*world.Pod {
	out, known := o.waiting[machine]
	if known {
		return out
	}
	for _, key := range o.fills[machine].Pods {
		if p := o.world.Pod(key); p != nil && p.Node == "" && !p.Done {
			out = append(out, p)
		}
	}
	o.waiting[machine] = out
	return out
}

// admitSome admits those of an open machine's pods that can be bound.
func (o *openings) admitSome(machine string) {
	for _, p := range o.pods(machine) {
		if o.nominations.Admit(p, machine) {
			o.binding = true
		}
	}
}

// admitAll counts the pods of a machine if all can be bound, and else returns those that cannot although waiting may help.
func (o *openings) admitAll(machine string) (not []world.Key) {
	for _, p := range o.pods(machine) {
		if h := o.nominations.blocks(p, machine); h == nil {
			o.nominations.Admit(p, machine)
		} else if o.helps(h, machine) {
			not = append(not, p.Key)
		}
	}
	if len(not) > 0 {
		o.nominations.Withdraw(machine)
	}
	return not
}

// useful names what is waited for: pods that a constraint counts, in other domains than one.
type awaited struct {
	count  *spreadCount
	domain string
}

// helps reports whether pods that the constraint counts are on their way to other domains than the machine's.
func (o *openings) helps(h *spreadCount, machine string) bool {
	what := awaited{h, domain(o.world.Place(machine), h.spread.Key)}
	if h.spread.HonourTaints {
		return false
	}
	out, known := o.awaited[what]
	if known {
		return out
	}
	out = slices.ContainsFunc(o.comingPods(h.pod.Namespace), func(c comingPod) bool {
		d := domain(c.to, h.spread.Key)
		return d != "" && d != what.domain && h.counts(c.pod)
	})
	o.awaited[what] = out
	return out
}

// comingPods are the pods of a namespace that wait to be bound to machines.
func (o *openings) comingPods(namespace string) []comingPod {
	if o.coming != nil {
		return o.coming[namespace]
	}
	o.coming = map[string][]comingPod{}
	for machine := range o.fills {
		m := o.world.Place(machine)
		if m == nil {
			continue
		}
		for _, p := range o.pods(machine) {
			o.coming[p.Namespace] = append(o.coming[p.Namespace], comingPod{p, m})
		}
	}
	return o.coming[namespace]
}

// expects reports whether machines are on their way that were asked for before the closed
// one had joined, and not for so long that they may be taken for lost.
func (o *openings) expects(m *world.Place) bool {
	took := m.Node.Created - m.Claim.Created
	return slices.ContainsFunc(o.world.Places(), func(p *world.Place) bool {
		return p.Node == nil && !p.Claim.Failed && !p.Claim.Deleting && p.Claim.Created <= m.Node.Created && o.world.At()-p.Claim.Created <= 2*took
	})
}
