package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
)

// unstack has planned machines of a zone exchange pods, so that few of a class that is
// spread over zones are on one. As many as the skew can be bound there whenever it takes pods;
// each one more has to wait until pods in other zones are bound.
func (k *Packer) unstack() {
	if !k.options.Nominated || !k.ledger.Counts() {
		return
	}
	inZone := map[int][]*bin{}
	for _, b := range k.new {
		t := k.market.Offers[b.offer].Tuple
		inZone[t] = append(inZone[t], b)
	}
	for _, b := range k.new {
		for _, x := range slices.Clone(b.pods) {
			if most := heap(x.class); most > 0 && x.bin == b && like(b.pods, x.class) > most && k.settled(x.class) {
				k.unstackOne(x, inZone[k.market.Offers[b.offer].Tuple])
			}
		}
	}
}

// unstackOne moves the pod to another of the machines.
func (k *Packer) unstackOne(x *waiting, all []*bin) {
	anybody := func(*waiting) bool { return true }
	for _, to := range all {
		if to != x.bin && k.moves(x, to, nil) && k.barter(x, to, anybody) {
			return
		}
	}
}

// heap is how many pods of the class can be bound on one machine whenever that takes pods; 0 for any number.
func heap(c *class) int {
	most := 0
	for _, s := range c.pod.Spread {
		if !s.Soft && s.Key != label.Hostname && (most == 0 || s.MaxSkew < most) {
			most = s.MaxSkew
		}
	}
	return most
}
