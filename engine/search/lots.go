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
	together, others := companions{k}.together(others)
	lots = append(lots, together...)
	for c, pods := range packing.ByClass(others) {
		pods = slices.Clone(pods)
		if l, ok := k.lot(c, pods); ok {
			lots = append(lots, l)
		} else {
			rest = append(rest, pods...)
		}
	}
	lots, unplaced := k.settleGroups(lots)
	lots, rest = k.withhold(lots, append(rest, unplaced...))
	lots, beyond := k.divideAll(lots)
	return lots, append(rest, beyond...)
}

// withhold keeps the lots back whose terms are about pods that are placed one by one, and that go wherever they like: those
// have to be there first. It returns what is left, and the rest with what was kept back.
func (k *Searcher) withhold(lots []*lot, rest []*packing.Pod) ([]*lot, []*packing.Pod) {
	loose := map[int32]bool{}
	note := func(pods []*packing.Pod) {
		for _, x := range pods {
			for _, g := range k.Advice.Strays(x.Class.PodInfo) {
				loose[g] = true
			}
		}
	}
	note(rest)
	for before := -1; before < len(loose); {
		before = len(loose)
		lots = slices.DeleteFunc(lots, func(l *lot) bool {
			if !slices.ContainsFunc(l.pods, func(x *packing.Pod) bool { return x.Class.PodInfo.CarriesAny(loose) }) {
				return false
			}
			rest = append(rest, l.pods...)
			note(l.pods)
			return true
		})
	}
	return lots, rest
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
			if l.piece > 0 {
				continue
			}
			l.wish = k.Advice.Wish(l.class.PodInfo)
			if h := l.wish.Home; h != "" && l.simple.Home == nil && l.simple.Split == nil {
				k.settle([]*lot{l}, h)
			}
		}
	}
	return all, unplaced
}
