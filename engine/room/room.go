// Package room knows what is free on the machines of a World, and whether the pods of some would find it on the others.
//
// A Ledger is opened once for a World. After that a question costs what it
// touches, and every answer can be taken back:
//
//	l := room.Open(w)
//	mark := l.Mark()
//	moves, ok := l.Clear(place) // its pods onto the others; false: it cannot go
//	l.Undo(mark)                // as if nobody had asked
//
// Whoever wants to know about several machines together clears one after the
// other without taking back what went before: pods that were moved onto a
// machine move on when it is cleared in turn.
//
// Pods are placed by the rules and in the order of the packer, one by one on the
// first machine that takes them. Preferences are not looked at, since they keep no
// pod from a place. So a yes is proven by the moves, each of which kube-scheduler
// could make after those before it, and where it is a no nothing that is left
// fits anywhere beside what was placed.
package room

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// Ledger is the room on the machines of one World. It has one user; a World can have many ledgers.
type Ledger struct {
	spread   *spread.Ledger
	machines []machine // in the order in which they are filled
	number   map[*world.Place]int
	dims     []string
	free     []int64 // of every machine, so many as there are dims
	classes  classes
	journal  []change
}

// machine is one that is there or on its way.
type machine struct {
	place  *world.Place
	at     fit.Place
	node   int     // number in the ledger of package spread
	guests []guest // that this ledger put there
	gone   bool
	closed bool
}

// guest is a pod that is placed, and its class.
type guest struct {
	pod   *world.Pod
	class *class
}

// Move is a pod and the machine it goes to.
type Move struct {
	Pod *world.Pod
	To  *world.Place
}

// Open returns the room on the machines of w: those that are whole, then those
// that are forming or on their way, each by name. Waiting pods and those of
// machines that are going have their places already, as far as there are any.
func Open(w *world.World) *Ledger {
	l := &Ledger{spread: spread.New(w.Namespaces()), number: make(map[*world.Place]int, len(w.Places()))}
	for _, m := range w.Places() {
		if m.Node == nil && (m.Claim.Failed || m.Claim.Deleting) {
			continue
		}
		l.machines = append(l.machines, machine{place: m})
	}
	slices.SortStableFunc(l.machines, func(a, b machine) int { return compareWhole(a.place, b.place) })
	l.learn(w.Pods())
	l.free = make([]int64, len(l.machines)*len(l.dims))
	for i := range l.machines {
		l.enter(w, i)
	}
	l.settle(w)
	l.journal = nil
	return l
}

// compareWhole orders machines that are whole before others.
func compareWhole(a, b *world.Place) int {
	switch x, y := a.Whole(), b.Whole(); {
	case x && !y:
		return -1
	case y && !x:
		return 1
	}
	return strings.Compare(a.Name(), b.Name())
}

// learn notes what pods ask for and which of them have to be counted.
func (l *Ledger) learn(pods []*world.Pod) {
	for _, p := range pods {
		if len(p.Spread)+len(p.PodTerms) > 0 {
			l.spread.Enlist(p)
		}
		for _, e := range p.Requests {
			if !slices.Contains(l.dims, e.Name) {
				l.dims = append(l.dims, e.Name)
			}
		}
	}
	l.spread.Share(pods, nil)
}

// enter enters machine i and the pods that run there.
func (l *Ledger) enter(w *world.World, i int) {
	m := &l.machines[i]
	m.at = fit.Of(w, m.place)
	m.node = l.spread.Enter(&m.at)
	l.number[m.place] = i
	for d, name := range l.dims {
		l.free[i*len(l.dims)+d] = m.at.Free.Value(name)
	}
	l.inhabit(m)
}

// inhabit enters the pods that run on the machine.
func (l *Ledger) inhabit(m *machine) {
	if !m.place.Deleting() {
		l.spread.Inhabit(m.place, m.node)
		return
	}
	for _, p := range m.place.Pods {
		if m.counts(p) {
			l.spread.Run(p, m.node)
		}
	}
}

// counts reports whether a pod that runs on the machine is there for good: on one that is going, most are not.
func (m *machine) counts(p *world.Pod) bool { return !m.place.Deleting() || !movable(p) }

// movable reports whether another place can be looked for if the pod's machine goes.
func movable(p *world.Pod) bool { return p.Moves() && p.Plannable() }

// roomOf is what is free on machine i.
func (l *Ledger) roomOf(i int) []int64 { return l.free[i*len(l.dims) : (i+1)*len(l.dims)] }

// Close keeps pods from being put on the machine from now on. It is not undone.
func (l *Ledger) Close(p *world.Place) {
	if i, ok := l.number[p]; ok {
		l.machines[i].closed = true
	}
}

// compareKey orders pods by key.
func compareKey(a, b *world.Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
