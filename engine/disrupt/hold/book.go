package hold

import (
	"github.com/tenon-sh/tenon/engine/world"
)

// Book is what keeps the machines of a World, as far as it is the same for all of them.
type Book struct {
	world    *world.World
	planned  map[string]bool
	promised map[string]*world.Pod // nodes that kube-scheduler has promised to a pod, and to which
	going    map[string]bool       // machines that are given back already
}

// Open returns the book of a World. planned are machines, by the names of their places, that pods are on their way to.
func Open(w *world.World, planned []string) *Book {
	b := &Book{world: w, planned: make(map[string]bool, len(planned)), promised: map[string]*world.Pod{}, going: map[string]bool{}}
	for _, name := range planned {
		b.planned[name] = true
	}
	for _, pod := range w.Waiting() {
		if pod.Nominated != "" {
			b.promised[pod.Nominated] = pod
		}
	}
	return b
}

// Give notes that a machine is given back: it counts against budgets like one that is going.
func (b *Book) Give(p *world.Place) { b.going[p.Name()] = true }

// Given reports whether that was noted.
func (b *Book) Given(p *world.Place) bool { return b.going[p.Name()] }

// RoomOf counts the machines of a pool against its budgets.
func RoomOf(w *world.World, pool *world.Pool, reason string) Room {
	return Open(w, nil).Room(pool, reason)
}

// Room is RoomOf, and counts what is given back already, too.
func (b *Book) Room(pool *world.Pool, reason string) Room {
	var r Room
	for _, p := range b.world.Places() {
		if p.Pool() != pool.ID || p.Claim == nil || !p.Claim.Initialized {
			continue
		}
		r.Machines++
		if p.Deleting() || b.going[p.Name()] || p.Node != nil && !p.Node.Ready {
			r.Going++
		}
	}
	r.Allowed = Allowed(pool.Disruption.Budgets, reason, r.Machines, b.world.At())
	return r
}
