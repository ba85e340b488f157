package repair

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/bind"
	"github.com/tenon-sh/tenon/engine/exact"
	"github.com/tenon-sh/tenon/engine/packing"
)

// maxVerifyRounds is how often pods that could not be bound are all placed again, before
// each is tried by itself.
const maxVerifyRounds = 3

// maxSingleTries is how often it is looked, for pods that are tried by themselves, whether all others can be bound as well, and how
// many classes of them may find no place.
const maxSingleTries = 100

// Verify replays all placements as if every planned machine were there and
// kube-scheduler bound the pods one by one, in an order in which it can. Pods
// it would not bind are placed again; what still has no place then is refused.
func (k *Repairer) Verify() {
	if !k.Ledger.Counts() {
		return
	}
	k.moveUnstable()
	for range maxVerifyRounds {
		stuck := bind.Replay(k.Packing)
		if len(stuck) == 0 {
			return
		}
		k.evict(stuck)
		k.Unplaced = append(k.Unplaced, stuck...)
		k.PlaceEach()
	}
	var moved []*packing.Pod
	for stuck := bind.Replay(k.Packing); len(stuck) > 0; stuck = bind.Replay(k.Packing) {
		k.evict(stuck)
		moved = append(moved, stuck...)
	}
	k.Unplaced, moved = nil, append(moved, k.Unplaced...)
	k.trySingly(moved)
}

// moveUnstable moves pods that could not be bound once all others are: a pod that is spread
// among others must not depend on being bound before them.
func (k *Repairer) moveUnstable() {
	for _, bins := range [][]*packing.Bin{k.Existing, slices.Clone(k.Planned)} {
		for _, b := range bins {
			for _, x := range slices.Clone(b.Pods) {
				if x.Class.Rank > 1 && !x.Held {
					k.moveIfUnstable(x)
				}
			}
		}
	}
}

func (k *Repairer) moveIfUnstable(x *packing.Pod) {
	b := x.Bin
	if bind.Stable(k.Packing, x) {
		return
	}
	k.Leave(x)
	switch {
	case !k.Put(x, 1):
		k.Join(b, x)
	case b.Machine == nil && len(b.Pods) == 0:
		k.Drop(b)
	}
}

// trySingly tries each pod by itself, again as long as one of them finds a place.
func (k *Repairer) trySingly(pods []*packing.Pod) {
	packing.SortPods(pods)
	k.tries = maxSingleTries
	for found := true; found; {
		found = false
		var again []*packing.Pod
		var hopeless *packing.Class // nothing has changed since one of its pods found no place
		for _, x := range pods {
			switch {
			case k.tries <= 0 || x.Class == hopeless:
			case k.try(x, k.Put) || k.try(x, k.Squeeze) || k.tryDomains(x):
				found, hopeless = true, nil
				continue
			default:
				k.tries--
				hopeless = x.Class
			}
			again = append(again, x)
		}
		pods = again
	}
	k.Unplaced = append(k.Unplaced, pods...)
}

// tryDomains tries a new machine for the pod in each of the domains it can reach.
func (k *Repairer) tryDomains(x *packing.Pod) bool {
	if !k.Advice.Spreads(x.Class.PodInfo) {
		return false
	}
	return slices.ContainsFunc(k.Reachable(x.Class), func(offer int) bool {
		in := exact.Level{k.Market.Offers[offer].DomainSet}
		return k.try(x, func(x *packing.Pod, remaining int) bool {
			b := k.Obtain(x, remaining, in)
			if b != nil {
				k.Join(b, x)
			}
			return b != nil
		})
	})
}

// try places the pod and takes it off again if then some pod could not be bound. All others can be: so can this one after
// them, unless it came by a machine that changes what these may do.
func (k *Repairer) try(x *packing.Pod, put func(*packing.Pod, int) bool) bool {
	before := bind.Now(k.Packing)
	if !put(x, 1) {
		return false
	}
	if before.Admits(x) {
		return true
	}
	k.tries--
	stuck := bind.Replay(k.Packing)
	if len(stuck) == 0 {
		return true
	}
	bind.Readmit(k.Packing, stuck)
	k.Remove(x)
	bind.Replay(k.Packing)
	return false
}

// evict takes pods off their bins that replay left out of the ledger.
func (k *Repairer) evict(stuck []*packing.Pod) {
	bind.Readmit(k.Packing, stuck) // Remove takes them off
	for _, x := range stuck {
		k.Remove(x)
	}
}
