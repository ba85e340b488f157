package search

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/packing"
)

// Place gives every pod a place, as far as there is one: on machines that are there, then, for those that need them, on new
// ones of exotic types, then on what the search finds cheapest for whole classes; and one by one what none of these
// placed, by package exact. Without the search that alone places them.
func (k *Searcher) Place(strictly, isolatedFirst bool) {
	all := k.Unplaced
	packing.SortPods(all)
	var unplaced []*packing.Pod
	for len(all) > 0 {
		n := len(all)
		for strictly && n > 0 && all[n-1].Pod.Priority != all[0].Pod.Priority {
			n--
		}
		k.Unplaced = slices.Clone(all[:n])
		all = all[n:]
		if isolatedFirst {
			k.PlaceIsolated()
			k.Loose = true
		}
		if !k.Options.ExactOnly {
			k.fillOld()
			if k.NeedsExotic {
				k.searchExotic()
			}
			k.Search()
			k.Loose = true
		}
		k.PlaceEach()
		unplaced = append(unplaced, k.Unplaced...)
	}
	if k.Unplaced = unplaced; strictly {
		k.PlaceEach()
	}
}
