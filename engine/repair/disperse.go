package repair

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/packing"
)

// Disperse has planned machines of a zone exchange pods, so that few of a class that is
// spread over zones are on one. As many as the skew can be bound there whenever it takes pods;
// each one more has to wait until pods in other zones are bound.
func (k *Repairer) Disperse() {
	if !k.Options.Nominated || !k.Ledger.Counts() {
		return
	}
	inZone := map[int][]*packing.Bin{}
	for _, b := range k.Planned {
		t := k.Market.Offers[b.Offer].DomainSet
		inZone[t] = append(inZone[t], b)
	}
	for _, b := range k.Planned {
		for _, x := range slices.Clone(b.Pods) {
			if most := bindableAtOnce(x.Class); most > 0 && x.Bin == b && countOf(b.Pods, x.Class) > most && k.interchangeable(x.Class) {
				k.disperseOne(x, inZone[k.Market.Offers[b.Offer].DomainSet])
			}
		}
	}
}

// disperseOne moves the pod to another of the machines.
func (k *Repairer) disperseOne(x *packing.Pod, all []*packing.Bin) {
	anyPod := func(*packing.Pod) bool { return true }
	for _, to := range all {
		if to != x.Bin && k.mayExchange(x, to, nil) && k.exchangeWith(x, to, anyPod) {
			return
		}
	}
}
