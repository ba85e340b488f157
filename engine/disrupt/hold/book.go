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
	counts   map[world.PoolID]Room // of each pool, but for what is allowed; nil: not counted yet
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
func (b *Book) Give(p *world.Place) {
	if counts, going := Counted(p); counts && !going && !b.going[p.Name()] && b.counts != nil {
		r := b.counts[p.Pool()]
		r.Going++
		b.counts[p.Pool()] = r
	}
	b.going[p.Name()] = true
}

// Given reports whether that was noted.
func (b *Book) Given(p *world.Place) bool { return b.going[p.Name()] }

// RoomOf counts the machines of a pool against its budgets.
func RoomOf(w *world.World, pool *world.Pool, reason string) Room {
	return Open(w, nil).Room(pool, reason)
}

// Room is RoomOf, and counts what is given back already, too.
func (b *Book) Room(pool *world.Pool, reason string) Room {
	if b.counts == nil {
		b.count()
	}
	r := b.counts[pool.ID]
	r.Allowed = Allowed(pool.Disruption.Budgets, reason, r.Machines, b.world.At())
	return r
}

// count counts the machines of all pools, once: it is asked for each machine.
func (b *Book) count() {
	b.counts = map[world.PoolID]Room{}
	for _, p := range b.world.Places() {
		counts, going := Counted(p)
		if !counts {
			continue
		}
		r := b.counts[p.Pool()]
		r.Machines++
		if going || b.going[p.Name()] {
			r.Going++
		}
		b.counts[p.Pool()] = r
	}
}

// Counted reports whether budgets count a machine, and whether as one that goes already or is not ready.
func Counted(p *world.Place) (counts, going bool) {
	return p.Claim != nil && p.Claim.Initialized, p.Deleting() || p.Node != nil && !p.Node.Ready
}
