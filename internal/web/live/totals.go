package live

import (
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// Totals are figures of the whole cluster.
type Totals struct {
	Price    money.Micro `json:"price"` // millionths of the currency an hour
	OnDemand money.Micro `json:"onDemand"`
	Ready    int         `json:"ready"`
	Coming   int         `json:"coming"`
	Going    int         `json:"going"`
	NotReady int         `json:"notReady"`
	Running  int         `json:"running"` // pods on nodes
	Waiting  int         `json:"waiting"`
	Longest  int64       `json:"longest"` // seconds that the pod that waits longest has waited
	CPU      int         `json:"cpu"`     // percent of all that pods ask for
	Memory   int         `json:"memory"`
}

// summing adds up machines.
type summing struct {
	sum               Totals
	cpu, cpuRoom      int64
	memory, memoryAll int64
}

func (s *summing) add(p *world.Place, state string, price, onDemand money.Micro) {
	s.sum.Price += price
	s.sum.OnDemand += onDemand
	s.sum.Running += len(p.Pods)
	switch {
	case Goes(state):
		s.sum.Going++
	case state == OnItsWay:
		s.sum.Coming++
	case state == NotReady:
		s.sum.NotReady++
	default:
		s.sum.Ready++
	}
	room := RoomOf(p)
	s.cpu, s.cpuRoom = amount.Plus(s.cpu, p.Used.Value(amount.CPU)), amount.Plus(s.cpuRoom, room.Value(amount.CPU))
	s.memory, s.memoryAll = amount.Plus(s.memory, p.Used.Value(amount.Memory)), amount.Plus(s.memoryAll, room.Value(amount.Memory))
}

// totals are the sums, and what is shown of waiting pods.
func (s *summing) totals(w *world.World) Totals {
	t := s.sum
	t.CPU, t.Memory = Percent(s.cpu, s.cpuRoom), Percent(s.memory, s.memoryAll)
	for _, p := range w.Waiting() {
		if p.Virtual { // no pod: the status of its CapacityBuffer says how it stands
			continue
		}
		t.Waiting++
		if p.Created > 0 {
			t.Longest = max(t.Longest, w.At()-p.Created)
		}
	}
	return t
}

// totalsOf are the figures of a World.
func totalsOf(w *world.World, known *prices) Totals {
	var s summing
	for _, p := range w.Places() {
		price, onDemand := known.of(w, p)
		s.add(p, StateOf(p), price, onDemand)
	}
	return s.totals(w)
}

// Percent is how much of the room is used.
func Percent(used, room int64) int {
	if room <= 0 {
		return 0
	}
	return int(100 * float64(used) / float64(room))
}

// RoomOf is what pods can have of a machine.
func RoomOf(p *world.Place) amount.List {
	if p.Node == nil {
		return p.Claim.Allocatable
	}
	return p.Node.Allocatable
}

// Tally gives the figures of Worlds that follow each other.
type Tally struct{ prices prices }

// Of are the figures of a World.
func (t *Tally) Of(w *world.World) Totals {
	t.prices.follow(w)
	return totalsOf(w, &t.prices)
}

// Price is what a machine of the World that came last costs, and what its type costs on demand.
func (t *Tally) Price(w *world.World, p *world.Place) (price, onDemand money.Micro) {
	return t.prices.of(w, p)
}
