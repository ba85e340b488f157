package search

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/packing"
)

// lots divides the pods that are left into those that can be handled as lots, and the rest.
func (k *Searcher) lots() (lots []*lot, rest []*packing.Pod) {
	groups, others := k.Groups(k.Unplaced)
	for _, x := range groups {
		if l, ok := k.groupLot(x); ok {
			lots = append(lots, l)
		} else {
			rest = append(rest, x.Pods...)
		}
	}
	for c, pods := range packing.ByClass(others) {
		pods = slices.Clone(pods)
		if l, ok := k.lot(c, pods); ok {
			lots = append(lots, l)
		} else {
			rest = append(rest, pods...)
		}
	}
	lots, unplaced := k.settleGroups(lots)
	lots, beyond := k.divideAll(lots)
	return lots, slices.Concat(rest, unplaced, beyond)
}

// settleGroups finds a home for lots that have to be together, and weighs what
// the others wish. It returns the pods that find none.
func (k *Searcher) settleGroups(all []*lot) (lots []*lot, unplaced []*packing.Pod) {
	groups := map[int32][]*lot{}
	for _, l := range all {
		if h := l.simple.Home; h != nil {
			groups[h.Group] = append(groups[h.Group], l)
		}
	}
	for _, g := range sortedKeys(groups, cmp.Compare[int32]) {
		if !k.settle(groups[g], groups[g][0].simple.Home.Key) {
			for _, l := range groups[g] {
				unplaced = append(unplaced, l.pods...)
			}
			all = slices.DeleteFunc(all, func(l *lot) bool { return slices.Contains(groups[g], l) })
		}
	}
	if k.Options.PreferencePolicy != packing.Ignore {
		for _, l := range all {
			k.prefer(l)
			if l.whole {
				continue
			}
			l.wish = k.Ledger.Wish(l.class.Subject)
			if h := l.wish.Home; h != "" && l.simple.Home == nil && l.simple.Split == nil {
				k.settle([]*lot{l}, h)
			}
		}
	}
	return all, unplaced
}
