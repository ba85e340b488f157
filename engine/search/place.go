package search

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
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
				exotics{k}.search()
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

// fillOld puts whole classes onto the machines that are there or on their way, as
// long as what has room takes them.
func (k *Searcher) fillOld() {
	k.PlaceGroups(false)
	var rest []*packing.Pod
	for c, pods := range packing.ByClass(k.Unplaced) {
		if c.Plain && !k.HasWishes(c) {
			rest = append(rest, k.fillPlain(c, pods)...)
			continue
		}
		if _, _, crowd := k.GroupOf(c); crowd {
			rest = append(rest, pods...)
			continue
		}
		for i, x := range pods {
			b := k.BestOf(k.Existing, x, &c.FullExisting, nil)
			if b == nil {
				if c.PodInfo.Indifferent() {
					rest = append(rest, pods[i:]...)
					break
				}
				rest = append(rest, x)
				continue
			}
			k.Join(b, x)
		}
	}
	k.Unplaced = rest
}

// fillPlain puts as many of the pods as fit onto each machine in turn, and returns the rest.
func (k *Searcher) fillPlain(c *packing.Class, pods []*packing.Pod) []*packing.Pod {
	for i := range k.Stands(c.Demands).From(c.FullExisting) {
		k.Steps++
		b := k.Existing[i]
		if b.Closed || !market.Fits(c.Need, b.Free) {
			continue
		}
		n := min(market.Times(c.Need, b.Free), len(pods))
		k.JoinAll(b, c, pods[:n])
		if pods = pods[n:]; len(pods) == 0 {
			k.Full.Note(c, i) // those before it have no room for another
			return nil
		}
	}
	k.Full.Note(c, len(k.Existing))
	return pods
}
