package search

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
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
// long as what has room takes them. Where these have not room for all, they are
// filled such that more finds room.
func (k *Searcher) fillOld() {
	k.PlaceGroups(false)
	waiting, mark := k.Unplaced, k.Mark()
	rest, lacking := k.fillWith(waiting, k.fillPlain)
	if !lacking {
		k.Commit(mark)
		k.Unplaced = rest
		return
	}
	k.Undo(mark)
	k.Unplaced, _ = k.fillWith(waiting, k.fillEvenly)
}

// fillWith puts classes onto these machines, those of which any pod may go to any that has room by the given means, and returns
// the rest. Lacking means that there was room for some pods of such classes and not for all.
func (k *Searcher) fillWith(waiting []*packing.Pod, plain func(*packing.Class, []*packing.Pod) []*packing.Pod) (rest []*packing.Pod, lacking bool) {
	some, short := false, false
	for c, pods := range packing.ByClass(waiting) {
		if c.Plain && !k.HasWishes(c) {
			left := plain(c, pods)
			rest = append(rest, left...)
			some, short = some || len(left) < len(pods), short || len(left) > 0
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
	return rest, some && short
}

// fillEvenly puts as many of the pods as fit onto the machines of which cores and memory run out together by them, and returns the
// rest. Complete machines come before those that are on their way, where pods would wait.
func (k *Searcher) fillEvenly(c *packing.Class, pods []*packing.Pod) []*packing.Pod {
	cores, memory := slices.Index(k.Market.Dims, amount.CPU), slices.Index(k.Market.Dims, amount.Memory)
	var best []suiting // no more than twice as many as there are pods, each of which takes one at least
	var worst *suiting // of as many as there are pods, once so many have been left out
	first := len(k.Existing)
	for i := range k.Stands(c.Demands).From(c.FullExisting) {
		k.Steps++
		b := k.Existing[i]
		if b.Closed || !market.Fits(c.Need, b.Free) {
			continue
		}
		first = min(first, i)
		s := suiting{at: i, whole: b.Machine.Whole(), less: 1, more: 1}
		if cores >= 0 && memory >= 0 {
			s.less, s.more = balance([2]int64{c.Need[cores], c.Need[memory]}, [2]int64{b.Free[cores], b.Free[memory]})
		}
		if worst != nil && s.compare(*worst) > 0 {
			continue
		}
		if best = append(best, s); len(best) >= 2*len(pods) {
			best = fittest(best, len(pods))
			last := best[len(best)-1]
			worst = &last
		}
	}
	best = fittest(best, len(pods))
	k.Full.Note(c, first) // those before it have no room
	for _, s := range best {
		b := k.Existing[s.at]
		n := min(market.Times(c.Need, b.Free), len(pods))
		k.JoinAll(b, c, pods[:n])
		if pods = pods[n:]; len(pods) == 0 {
			return nil
		}
	}
	k.Full.Note(c, len(k.Existing))
	return pods
}

// fittest are the first so many of the machines, in order.
func fittest(all []suiting, most int) []suiting {
	slices.SortFunc(all, suiting.compare)
	return all[:min(len(all), most)]
}

// suiting is a machine with room for a pod, and how well its room suits that.
type suiting struct {
	at         int
	whole      bool
	less, more int64 // how many pods there is room for by cores and by memory
}

// compare puts first what is complete, then that of which cores and memory run out together, then what comes first.
func (s suiting) compare(o suiting) int {
	if s.whole != o.whole {
		if s.whole {
			return -1
		}
		return 1
	}
	hi, lo := bits.Mul64(uint64(s.more), uint64(o.less))
	ohi, olo := bits.Mul64(uint64(o.more), uint64(s.less))
	return cmp.Or(cmp.Compare(hi, ohi), cmp.Compare(lo, olo), cmp.Compare(s.at, o.at))
}

// balance is how many pods there is room for by cores and by memory, in parts of a pod and the lesser first. Of pods that ask for one
// of them only it is what there is of that and what there is of the other.
func balance(need, free [2]int64) (less, more int64) {
	x, y := free[0], free[1]
	if need[0] > 0 && need[1] > 0 {
		x, y = x/max(need[0]/partsOfPod, 1), y/max(need[1]/partsOfPod, 1)
		x, y = min(x, y), max(x, y)
	} else if need[1] > 0 {
		x, y = y, x
	}
	return max(x, 1), max(y, 1)
}

// partsOfPod is in how many parts of a pod it is counted how many there is room for.
const partsOfPod = 1024

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
