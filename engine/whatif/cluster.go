// Package whatif answers what would be if machines of a cluster were gone: their pods are taken up, put down elsewhere or on machines that are bought for them, and put back.
package whatif

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/repair"
	"github.com/tenon-sh/tenon/engine/search"
	"github.com/tenon-sh/tenon/engine/world"
)

// Cluster is a cluster in which the pods of some machines can be taken up, put
// down elsewhere or on machines that are bought for them, and put back. It goes
// by the same rules as engine/pack, since it is made of the same parts.
//
// Machines go by their position among Places. A pod that has been taken up and
// not put down yet is unplaced.
type Cluster struct {
	k         *search.Searcher
	repair    *repair.Repairer
	residents []resident // what runs on each machine that may be cleared
	homes     map[*packing.Pod]int
	worth     []int64 // of one pod of each class, micro-units an hour; below 0 if none can be bought for
	bound     money.Micro
	bought    []*packing.Bin // those that were given back among them
	free      []int64        // of every machine, one after the other; the machines share it
	usual     mix            // what pods that may move ask for
	changed   []int32        // the machines to which something was done, one after the other
	replaced  []replaced
	stranded  []*world.Pod // of machines that go already, without a place on the others
}

// resident is a machine's own pods, and what else runs there and goes with it.
type resident struct {
	k      *packing.Packing
	bin    *packing.Bin
	pods   []*packing.Pod
	others []*world.Pod
	taken  bool // by waiting pods
	barred bool // nothing is to be put there
}

// replaced is a machine that was replaced, and what was bought for it: Cluster.bought[from:to].
type replaced struct{ machine, from, to int }

// Mark is a moment to which Undo goes back.
type Mark = packing.Mark

// freeOn is what is free on machine i.
func (y *Cluster) freeOn(i int) []int64 {
	dims := len(y.k.Market.Dims)
	return y.free[i*dims : (i+1)*dims : (i+1)*dims]
}

// Places returns the machines that are there or on their way, those that are complete first, by name.
func (y *Cluster) Places() []*world.Place {
	out := make([]*world.Place, len(y.k.Existing))
	for i, b := range y.k.Existing {
		out[i] = b.Machine
	}
	return out
}

// Movable are the pods of machine i that move when it goes.
func (y *Cluster) Movable(i int) []*world.Pod {
	out := make([]*world.Pod, len(y.residents[i].pods))
	for n, x := range y.residents[i].pods {
		out[n] = x.Pod
	}
	return out
}

// Count is how many pods are on machine i that move when it goes.
func (y *Cluster) Count(i int) int { return len(y.k.Existing[i].Pods) }

// Taken reports whether waiting pods are to go to machine i.
func (y *Cluster) Taken(i int) bool { return y.residents[i].taken }

// Bar keeps pods from being put onto machine i.
func (y *Cluster) Bar(i int) { y.residents[i].barred, y.k.Existing[i].Closed = true, true }

// Mark returns the moment that is now. What is done from now on is noted, until it is undone or committed.
func (y *Cluster) Mark() Mark { return y.k.Mark() }

// Commit lets stand what was done since the mark.
func (y *Cluster) Commit(m Mark) { y.k.Commit(m) }

// Undo takes back all that was done since the mark. No pod is unplaced then.
func (y *Cluster) Undo(m Mark) {
	y.k.Undo(m)
	y.k.Unplaced = nil
}

// Steps is the work done so far, counted.
func (y *Cluster) Steps() int { return y.k.Steps }

// Clear takes up what is on machine i, and closes it.
func (y *Cluster) Clear(i int) {
	b := y.k.Existing[i]
	for _, x := range slices.Clone(b.Pods) {
		y.k.Detach(x)
		y.k.Unplaced = append(y.k.Unplaced, x)
	}
	y.residents[i].takeAway()
	y.k.Close(b)
}

// takeAway takes the machine and what goes with it out of the ledger.
func (r *resident) takeAway() { r.k.TakeAway(r.bin, r.others) }

// putBack ends that, if it is so.
func (r *resident) putBack() {
	if r.bin.Away {
		r.k.PutBack(r.bin, r.others)
	}
}

// reopen has a machine that was cleared take pods again.
func (r *resident) reopen() {
	r.putBack()
	if !r.barred {
		r.k.Open(r.bin)
	}
}

// recall ends that pods of the machine are aside, and returns them.
func (r *resident) recall() []*packing.Pod {
	var out []*packing.Pod
	for _, x := range r.pods {
		if x.Counted {
			r.k.Uncount(r.bin, x)
			out = append(out, x)
		}
	}
	if len(out) > 0 {
		r.takeAway()
	}
	return out
}
