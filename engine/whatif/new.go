package whatif

import (
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/exact"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/repair"
	"github.com/tenon-sh/tenon/engine/search"
	"github.com/tenon-sh/tenon/engine/world"
)

// New returns the cluster of w with all pods that wait put where they would
// go now. The pods of the machines that may be cleared can be taken up.
func New(w *world.World, o packing.Options, clear func(*world.Place) bool) *Cluster {
	return newCluster(w, o, clear, packing.Moves, nil)
}

// Draining is New for machines that are drained whatever their pods say: those that are never evicted, or end
// by themselves, need no other place. No pod is put onto machines that are barred, not even one that waits.
func Draining(w *world.World, o packing.Options, clear, barred func(*world.Place) bool) *Cluster {
	return newCluster(w, o, clear, func(p *world.Pod) bool { return packing.Leaves(w, p) }, barred)
}

func newCluster(w *world.World, o packing.Options, clear func(*world.Place) bool, moves func(*world.Pod) bool, barred func(*world.Place) bool) *Cluster {
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
			if !moves(p) {
				rest.Pods = append(rest.Pods, p)
				continue
			}
			rest.Used = rest.Used.Minus(p.Requests)
			all = append(all, p)
		}
		k.Places[i], others[rest] = rest, rest.Pods
	}
	k.Ready(all)
	y := &Cluster{k: k, repair: &repair.Repairer{Placer: p}, residents: make([]resident, len(k.Existing)), homes: map[*packing.Pod]int{}}
	for i, b := range k.Existing {
		y.residents[i].k, y.residents[i].bin = k.Packing, b
		if barred != nil && barred(b.Machine) {
			y.Bar(i)
		}
		if _, clearable := others[b.Machine]; clearable {
			y.residents[i].others = others[b.Machine]
			for _, x := range b.Pods {
				if x.Pod.Node != "" {
					y.residents[i].pods = append(y.residents[i].pods, x)
					y.homes[x] = i
				}
			}
		}
	}
	k.Often = true
	measure(y)
	k.Changed = func(b *packing.Bin) {
		if b.Machine != nil {
			y.changed = append(y.changed, int32(b.Number)) //nolint:gosec // there are not that many machines
		}
	}
	receive(y, len(pods) > 0)
	return y
}

// measure finds out what is usually asked for, and puts what is free on machines side by side.
func measure(y *Cluster) {
	y.free = make([]int64, 0, len(y.k.Existing)*len(y.k.Market.Dims))
	for i, b := range y.k.Existing {
		y.free = append(y.free, b.Free...)
		b.Free = y.freeOn(i)
	}
	for d, n := range y.Need() {
		if n > 0 {
			y.usual = append(y.usual, share{d, 1 / float64(n), leastAsked(y, d)})
		}
	}
}

// leastAsked is the least that a pod which may move asks for.
func leastAsked(y *Cluster, dim int) int64 {
	least := int64(math.MaxInt64)
	for x := range y.homes {
		least = min(least, x.Class.Need[dim])
	}
	return least
}

// receive puts the waiting pods where they go, so that no other pod counts on the room.
func receive(y *Cluster, some bool) {
	k := y.k
	if some {
		k.Keep()
		k.Place(false, false)
		y.repair.Verify()
	}
	for i, b := range k.Existing {
		y.residents[i].taken = len(b.Pods) > len(y.residents[i].pods)
	}
	strand(y)
	k.Unplaced, k.Planned = nil, nil // what is planned for them is in the ledger and in the limits; it takes no other pod
}

// strand notes for which pods of machines that go already there is no place on those that are there or on their way.
func strand(y *Cluster) {
	pods := slices.Clone(y.k.Unplaced)
	for _, b := range y.k.Planned {
		pods = append(pods, b.Pods...)
	}
	for _, x := range pods {
		if x.Pod.Node != "" {
			y.stranded = append(y.stranded, x.Pod)
		}
	}
	slices.SortFunc(y.stranded, func(a, b *world.Pod) int { return a.Compare(b.Key) })
}
