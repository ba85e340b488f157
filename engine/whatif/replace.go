package whatif

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/bind"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/refuse"
	"github.com/tenon-sh/tenon/engine/world"
)

// Replacement is what becomes of the pods of a machine that is replaced.
type Replacement struct {
	Moves  []Move     // to machines that are there or on their way
	Bought []plan.Ask // for the others, and for them alone
}

// Replace gives the pods of machine i other places, as package pack would: on machines that are there or on their way and, for what
// finds none, on machines that are bought. What they take is not there for the machine that is replaced next. If one of
// them finds no place everything stays as it was, and which, and why, is reported.
func (y *Cluster) Replace(i int) (Replacement, *reason.Why) {
	k, known := y.k, len(y.bought)
	mark := y.Mark()
	k.Full.ForgetPlanned(0) // of what was bought for others; machines that are there have become no emptier
	y.Clear(i)
	k.Place(false, false)
	y.repair.Trim()
	k.PlaceEach()
	pods := y.residents[i].pods
	why := homeless(k.Packing)
	if why == nil {
		y.bought = append(y.bought, k.HandOver()...)
		if !bind.AfterOthers(k.Packing, pods) {
			why = noPlace(pods[0].Pod, &reason.Why{Code: reason.NoPlace, Detail: "no order was found in which the pods of the node could be bound"})
		}
	}
	if why != nil {
		y.Undo(mark)
		y.bought = y.bought[:known]
		return Replacement{}, why
	}
	y.Commit(mark)
	y.replaced = append(y.replaced, replaced{machine: i, from: known, to: len(y.bought)})
	var r Replacement
	for j := known; j < len(y.bought); j++ {
		r.Bought = append(r.Bought, y.Ask(j))
	}
	for _, x := range pods {
		if x.Bin.Machine != nil {
			r.Moves = append(r.Moves, Move{x.Pod, x.Bin.Machine})
		}
	}
	return r, nil
}

// Unsettled are machines that were replaced and of which pods could not be bound any more, since what was bought after them has changed
// how pods are spread. They are as they were then.
func (y *Cluster) Unsettled() []int {
	var out []int
	for {
		stuck := map[int]bool{}
		for _, x := range bind.StuckAfterOthers(y.k.Packing, movedPods(y)) {
			stuck[y.homes[x]] = true
		}
		if len(stuck) == 0 {
			return out
		}
		y.replaced = slices.DeleteFunc(y.replaced, func(r replaced) bool {
			if !stuck[r.machine] {
				return false
			}
			y.Restore(r.machine)
			for _, b := range y.bought[r.from:r.to] {
				y.k.GiveBack(b)
			}
			out = append(out, r.machine)
			return true
		})
	}
}

// movedPods are the pods of machines that were replaced.
func movedPods(y *Cluster) []*packing.Pod {
	var out []*packing.Pod
	for _, r := range y.replaced {
		out = append(out, y.residents[r.machine].pods...)
	}
	return out
}

// homeless says of the first of the unplaced pods why it finds no place; nil if there are none.
func homeless(k *packing.Packing) *reason.Why {
	if len(k.Unplaced) == 0 {
		return nil
	}
	first := slices.MinFunc(refuse.All(k), func(a, b plan.Refusal) int { return a.Pod.Compare(b.Pod) })
	return noPlace(k.World.Pod(first.Pod), first.Why)
}

func noPlace(p *world.Pod, cause *reason.Why) *reason.Why {
	return &reason.Why{Code: reason.NoPlace, Subject: p.String(), Detail: "the pod would find no place", Causes: []*reason.Why{cause}}
}

// Stranded are the pods of machines that go already for which there is no place on the others, by name.
func (y *Cluster) Stranded() []*world.Pod { return y.stranded }
