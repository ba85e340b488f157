package whatif

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

// Staying reports whether a machine is not going already, so that what it runs can be taken up.
func Staying(p *world.Place) bool { return !p.Deleting() }

// Move is a pod and the machine that it would go to.
type Move struct {
	Pod *world.Pod
	To  *world.Place
}

// Goes reports whether all that would need another place if machine i were gone finds it on the others.
func (y *Cluster) Goes(i int) bool {
	if slices.ContainsFunc(y.residents[i].others, moves) {
		return false
	}
	mark := y.Mark()
	defer y.Undo(mark)
	y.Clear(i)
	return y.Settle(y.takers(), true) == 0
}

// moves reports whether a pod needs another place if its machine goes, be it one that can be planned for or not.
func moves(p *world.Pod) bool { return p.Moves() }

// Elsewhere says where pods would go if the machines were gone, in an order in
// which kube-scheduler could bind them, and which would find no place on the
// machines that are left. Everything stays as it is.
func (y *Cluster) Elsewhere(machines ...int) (moved []Move, homeless []*world.Pod) {
	mark := y.Mark()
	defer y.Undo(mark)
	for _, i := range machines {
		for _, p := range y.residents[i].others {
			if p.Moves() {
				homeless = append(homeless, p) // it cannot be planned for
			}
		}
		y.Clear(i)
	}
	y.Settle(y.takers(), false)
	for _, x := range y.k.Joined(mark) {
		moved = append(moved, Move{x.Pod, y.k.World.Place(x.Bin.Place.Name)})
	}
	for _, x := range y.k.Unplaced {
		homeless = append(homeless, x.Pod)
	}
	return moved, homeless
}

// takers are the machines that may have room, those that are complete first, by name.
func (y *Cluster) takers() *Order {
	var out []int
	for i, b := range y.k.Existing {
		if !b.Closed && !b.Away && !y.Full(i) {
			out = append(out, i)
		}
	}
	return y.Order(out)
}
