package repair

import (
	"cmp"
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/engine/packing"
)

// maxExchangePartners bounds how many machines are asked for pods in exchange for one.
const maxExchangePartners = 64

// Exchange has pods that cannot be bound yet, because their zone is ahead of the
// others, change places with pods of machines that take pods later and that can. kube-scheduler
// keeps no place for a pod that it had to turn down: the next pod would have it.
func (k *Repairer) Exchange() {
	if !k.Options.Nominated || !k.Ledger.Counts() {
		return
	}
	nominations := nominate.NewNominations(k.World)
	order := k.byOpening()
	for i, b := range order {
		if b.Machine.Node == nil {
			break
		}
		k.exchangeOn(b, order[i+1:], nominations)
	}
}

// byOpening are the machines that stay, in the order in which they take pods: those that do,
// those that have joined, the first to join first, and those on their way.
func (k *Repairer) byOpening() []*packing.Bin {
	out := slices.DeleteFunc(slices.Clone(k.Existing), func(b *packing.Bin) bool { return b.Place.Deleting })
	slices.SortStableFunc(out, func(a, b *packing.Bin) int { return cmp.Compare(opensAt(a), opensAt(b)) })
	return out
}

// opensAt is about when a machine that is there or on its way takes pods.
func opensAt(b *packing.Bin) int64 {
	switch {
	case b.Machine.Node == nil:
		return math.MaxInt64
	case nominate.Closed(b.Machine):
		return b.Machine.Node.Created
	}
	return math.MinInt64
}

// later are those of the machines, in the order in which they open, that are in the same zone and take no pods yet, the last first.
func later(b *packing.Bin, all []*packing.Bin) []*packing.Bin {
	var out []*packing.Bin
	for _, o := range slices.Backward(all) {
		if len(out) == maxExchangePartners || opensAt(o) == math.MinInt64 { // nor does any before it wait to take pods
			break
		}
		if o.Place.Labels[label.Zone] == b.Place.Labels[label.Zone] {
			out = append(out, o)
		}
	}
	return out
}

// exchangeOn has those of the machine's pods that cannot be bound change places with pods of the
// machines that follow it, and counts the others among the nominations.
func (k *Repairer) exchangeOn(b *packing.Bin, following []*packing.Bin, nominations *nominate.Nominations) {
	node := b.Machine.Node.Name
	var partners []*packing.Bin
	asked := false
	seen := map[*packing.Pod]bool{}
	for i := 0; i < len(b.Pods); i++ {
		x := b.Pods[i]
		if seen[x] || x.Pod.Node != "" || x.Held {
			continue
		}
		seen[x] = true
		if nominations.Admit(x.Pod, node) || !k.interchangeable(x.Class) {
			continue
		}
		if !asked {
			partners, asked = later(b, following), true
		}
		for _, to := range partners {
			if k.admits(to, x) && k.exchangeWith(x, to, func(y *packing.Pod) bool { return nominations.Allows(y.Pod, node) }) {
				i = -1 // the pods that have come are looked at as well
				break
			}
		}
	}
}
