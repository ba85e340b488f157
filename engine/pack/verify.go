package pack

import (
	"slices"
)

// rounds is how often pods that could not be bound are all placed anew, before
// each is tried by itself.
const rounds = 3

// singly is how many pods are tried by themselves.
const singly = 100

// verify replays all placements as if every planned machine were there and
// kube-scheduler bound the pods one by one, in an order in which it can. Pods
// it would not bind are placed anew; what still has no place then is refused.
func (k *Packer) verify() {
	if !k.ledger.Counts() {
		return
	}
	k.calm()
	for range rounds {
		stuck := k.replay()
		if len(stuck) == 0 {
			return
		}
		k.evict(stuck)
		k.left = append(k.left, stuck...)
		k.exact()
	}
	var moved []*waiting
	for stuck := k.replay(); len(stuck) > 0; stuck = k.replay() {
		k.evict(stuck)
		moved = append(moved, stuck...)
	}
	k.left, moved = nil, append(moved, k.left...)
	k.trySingly(moved)
}

// calm moves pods that could not be bound once all others are: who is spread
// among others must not depend on being bound before them.
func (k *Packer) calm() {
	for _, bins := range [][]*bin{k.old, slices.Clone(k.new)} {
		for _, b := range bins {
			for _, x := range slices.Clone(b.pods) {
				if x.class.rank > 1 && !x.held {
					k.calmOne(x)
				}
			}
		}
	}
}

func (k *Packer) calmOne(x *waiting) {
	b := x.bin
	k.ledger.Take(x.class.subject, b.node)
	fine := k.ledger.Allows(x.class.subject, b.node)
	k.ledger.Put(x.class.subject, b.node)
	if fine {
		return
	}
	k.quit(x)
	switch {
	case !k.put(x, 1):
		k.join(b, x)
	case b.machine == nil && len(b.pods) == 0:
		k.drop(b)
	}
}

// trySingly tries each pod by itself, again as long as one of them finds a place.
func (k *Packer) trySingly(pods []*waiting) {
	sortWaiting(pods)
	tries := singly
	for found := true; found; {
		found = false
		var again []*waiting
		for _, x := range pods {
			tries--
			if tries >= 0 && (k.try(x, k.put) || k.try(x, k.squeeze) || k.tryDomains(x)) {
				found = true
				continue
			}
			again = append(again, x)
		}
		pods = again
	}
	k.left = append(k.left, pods...)
}

// squeeze puts the pod on a machine that is planned already, however crowded.
func (k *Packer) squeeze(x *waiting, _ int) bool {
	b := k.among(k.new, x, new(int), nil)
	if b != nil {
		x.squeezed = true
		k.join(b, x)
	}
	return b != nil
}

// tryDomains tries a new machine for the pod in each of the domains it can reach.
func (k *Packer) tryDomains(x *waiting) bool {
	if !k.ledger.Spreads(x.class.subject) {
		return false
	}
	return slices.ContainsFunc(k.reachable(x.class), func(offer int) bool {
		in := level{k.market.Offers[offer].Tuple}
		return k.try(x, func(x *waiting, remaining int) bool {
			b := k.obtain(x, remaining, in)
			if b != nil {
				k.join(b, x)
			}
			return b != nil
		})
	})
}

// try places the pod and takes it off again if then some pod could not be bound.
func (k *Packer) try(x *waiting, put func(*waiting, int) bool) bool {
	if !put(x, 1) {
		return false
	}
	stuck := k.replay()
	if len(stuck) == 0 {
		return true
	}
	for _, y := range stuck {
		k.ledger.Put(y.class.subject, y.bin.node)
	}
	k.remove(x)
	k.replay()
	return false
}

// evict takes pods off their bins that replay left out of the ledger.
func (k *Packer) evict(stuck []*waiting) {
	for _, x := range stuck {
		k.ledger.Put(x.class.subject, x.bin.node) // remove takes it off
		k.remove(x)
	}
}

// remove takes the pod off its bin, and gives the bin back if it is planned and empty.
func (k *Packer) remove(x *waiting) {
	b := x.bin
	k.quit(x)
	if b.machine == nil && len(b.pods) == 0 {
		k.drop(b)
	}
}

// replay takes all pods out of the ledger and enters them again as they can be
// bound. It returns those that cannot, which stay out of the ledger.
func (k *Packer) replay() []*waiting {
	var rest []*waiting
	for _, bins := range [][]*bin{k.old, k.new} {
		for _, b := range bins {
			for _, x := range b.pods {
				k.ledger.Take(x.class.subject, b.node)
				rest = append(rest, x)
			}
		}
	}
	return k.bind(rest)
}
