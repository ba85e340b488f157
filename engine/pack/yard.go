package pack

import (
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/exact"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/repair"
	"github.com/tenon-sh/tenon/engine/search"
	"github.com/tenon-sh/tenon/engine/world"
)

// Yard is a cluster in which the pods of some machines can be taken up, put
// down elsewhere or on machines that are bought for them, and put back. It goes
// by the same rules as Pack, since it is the same packer.
//
// Machines go by their position among Places. A pod that has been taken up and
// not put down yet is in the air.
type Yard struct {
	k        *search.Searcher
	repair   *repair.Repairer
	lodgers  []lodger // what runs on each machine that may be cleared
	homes    map[*packing.Pod]int
	trail    []step
	worth    []int64 // of one pod of each class, micro-units an hour; below 0 if none can be bought for
	bound    int64
	bought   []*packing.Bin
	free     []int64        // of every machine, one after the other; the machines share it
	usual    []share        // what pods that may move ask for
	standing []*packing.Bin // those of bought that have not been given back
}

// lodger is a machine's own pods, and what else runs there and goes with it.
type lodger struct {
	pods   []*packing.Pod
	others []*world.Pod
	taken  bool // by waiting pods
	barred bool // nothing is to be put there
	closed bool
	aside  int // pods that are
}

// step is one thing that was done: a pod taken up, a machine closed or bought.
type step struct {
	pod      *packing.Pod
	from     *packing.Bin
	closed   int
	bought   *packing.Bin
	recalled int // one more than the machine's number
}

// Mark is a moment to which Undo goes back.
type Mark int

// NewYard returns the cluster of w with all pods that wait put where they would
// go now. The pods of the machines that may be cleared can be taken up.
func NewYard(w *world.World, o packing.Options, clear func(*world.Place) bool) *Yard {
	p := &exact.Placer{Packing: packing.New(w, o)}
	k := &search.Searcher{Placer: p, Loose: true}
	pods, refused := packing.Admit(w)
	k.Waiting = len(refused)
	all := slices.Clone(pods)
	k.Places = slices.Clone(k.Places)
	others := map[*world.Place][]*world.Pod{}
	for i, m := range k.Places {
		if !clear(m) {
			continue
		}
		rest := &world.Place{Node: m.Node, Claim: m.Claim, Used: m.Used}
		for _, p := range m.Pods {
			if !packing.Moves(p) {
				rest.Pods = append(rest.Pods, p)
				continue
			}
			rest.Used = rest.Used.Minus(p.Requests)
			all = append(all, p)
		}
		k.Places[i], others[rest] = rest, rest.Pods
	}
	k.Ready(all)
	y := &Yard{k: k, repair: &repair.Repairer{Placer: p}, lodgers: make([]lodger, len(k.Existing)), homes: map[*packing.Pod]int{}}
	for i, b := range k.Existing {
		if _, clearable := others[b.Machine]; clearable {
			y.lodgers[i] = lodger{others: others[b.Machine]}
			for _, x := range b.Pods {
				if x.Pod.Node != "" {
					y.lodgers[i].pods = append(y.lodgers[i].pods, x)
					y.homes[x] = i
				}
			}
		}
	}
	y.measure()
	y.receive(len(pods) > 0)
	return y
}

// share is one over what all pods that may move ask for of a dimension, and the least that one does.
type share struct {
	dim   int
	of    float64
	least int64
}

// measure finds out what is usually asked for, and puts what is free on machines side by side.
func (y *Yard) measure() {
	y.free = make([]int64, 0, len(y.k.Existing)*len(y.k.Market.Dims))
	for i, b := range y.k.Existing {
		y.free = append(y.free, b.Free...)
		b.Free = y.freeOn(i)
	}
	for d, n := range y.Need() {
		if n > 0 {
			y.usual = append(y.usual, share{d, 1 / float64(n), y.least(d)})
		}
	}
}

// least is the least that a pod which may move asks for.
func (y *Yard) least(dim int) int64 {
	least := int64(math.MaxInt64)
	for x := range y.homes {
		least = min(least, x.Class.Need[dim])
	}
	return least
}

// freeOn is what is free on machine i.
func (y *Yard) freeOn(i int) []int64 {
	dims := len(y.k.Market.Dims)
	return y.free[i*dims : (i+1)*dims : (i+1)*dims]
}

// receive puts the waiting pods where they go, so that nobody else counts on the room.
func (y *Yard) receive(some bool) {
	k := y.k
	if some {
		k.Keep()
		k.Place(false, false)
		y.repair.Verify()
	}
	for i, b := range k.Existing {
		y.lodgers[i].taken = len(b.Pods) > len(y.lodgers[i].pods)
	}
	k.Unplaced, k.Planned = nil, nil // what is planned for them is in the ledger and in the limits; it takes nobody else
}

// Places returns the machines that are there or on their way, those that are complete first, by name.
func (y *Yard) Places() []*world.Place {
	out := make([]*world.Place, len(y.k.Existing))
	for i, b := range y.k.Existing {
		out[i] = b.Machine
	}
	return out
}

// Lodgers are the pods of machine i that move when it goes.
func (y *Yard) Lodgers(i int) []*world.Pod {
	out := make([]*world.Pod, len(y.lodgers[i].pods))
	for n, x := range y.lodgers[i].pods {
		out[n] = x.Pod
	}
	return out
}

// Count is how many pods are on machine i that move when it goes.
func (y *Yard) Count(i int) int { return len(y.k.Existing[i].Pods) }

// Taken reports whether waiting pods are to go to machine i.
func (y *Yard) Taken(i int) bool { return y.lodgers[i].taken }

// Bar keeps pods from being put onto machine i.
func (y *Yard) Bar(i int) { y.lodgers[i].barred, y.k.Existing[i].Closed = true, true }

// Mark returns the moment that is now.
func (y *Yard) Mark() Mark { return Mark(len(y.trail)) }

// Steps is the work done so far, counted.
func (y *Yard) Steps() int { return y.k.Steps }

// Clear takes up what is on machine i, and closes it.
func (y *Yard) Clear(i int) {
	b := y.k.Existing[i]
	for _, x := range slices.Clone(b.Pods) {
		y.take(x)
	}
	y.close(i)
}

// take takes the pod up.
func (y *Yard) take(x *packing.Pod) {
	y.trail = append(y.trail, step{pod: x, from: x.Bin})
	y.k.Detach(x)
	y.k.Unplaced = append(y.k.Unplaced, x)
}

func (y *Yard) close(i int) {
	y.leave(i)
	y.k.Existing[i].Closed, y.lodgers[i].closed = true, true
	y.trail = append(y.trail, step{closed: i})
}

func (y *Yard) reopen(i int) {
	y.enter(i)
	y.k.Existing[i].Closed, y.lodgers[i].closed = y.lodgers[i].barred, false
}

// leave takes a machine and what goes with it out of the ledger.
func (y *Yard) leave(i int) {
	b := y.k.Existing[i]
	for _, p := range y.lodgers[i].others {
		y.k.Ledger.Stop(p, b.Node)
	}
	y.k.Ledger.Vacate(b.Node)
}

func (y *Yard) enter(i int) {
	b := y.k.Existing[i]
	y.k.Ledger.Occupy(b.Node)
	for _, p := range y.lodgers[i].others {
		y.k.Ledger.Run(p, b.Node)
	}
}
