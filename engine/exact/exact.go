// Package exact places pods one by one, and together those that have to share a machine.
package exact

import (
	"github.com/tenon-sh/tenon/engine/packing"
)

// PlaceEach places the pods that are left one by one. A pod that finds none is tried
// again as long as another does.
func (k *Placer) PlaceEach() {
	packing.SortPods(k.Unplaced)
	k.PlaceGroups(true)
	packing.SortPods(k.Unplaced)
	for {
		before := len(k.Unplaced)
		k.Unplaced = k.eachOnce(k.Unplaced)
		if len(k.Unplaced) == 0 || len(k.Unplaced) == before && !k.release() {
			return
		}
	}
}

// release lets volumes be made in any zone of which the pods that share them find no place in those that all of them
// can reach. One that fits nowhere keeps no other from its place. It reports whether there are any.
func (k *Placer) release() (some bool) {
	for _, x := range k.Unplaced {
		for _, volume := range x.Class.PodInfo.Unmade {
			some = k.Ledger.Release(volume) || some
		}
	}
	return some
}

// eachOnce tries every pod once, those that want the company of others not
// before some of it has a place. It returns those that found none.
func (k *Placer) eachOnce(pods []*packing.Pod) []*packing.Pod {
	var again []*packing.Pod
	remaining := map[*packing.Class]int{}
	for _, x := range pods {
		remaining[x.Class]++
	}
	lonely := map[int32][]*packing.Pod{} // by the group they want company of
	var hopeless *packing.Class          // nothing has changed since one of its pods found no place
	for i := 0; i < len(pods); i++ {
		x := pods[i]
		if group, alone := k.Advice.Lonely(x.Class.PodInfo); alone {
			lonely[group] = append(lonely[group], x)
			continue
		}
		if x.Class == hopeless || !k.Put(x, remaining[x.Class]) && !k.relocateCompanion(x, remaining[x.Class]) {
			again = append(again, x)
			hopeless = x.Class
		} else if len(lonely) > 0 {
			for _, group := range x.Class.PodInfo.Members {
				pods = append(pods, lonely[group]...)
				delete(lonely, group)
			}
		}
		remaining[x.Class]--
	}
	for _, group := range lonely {
		again = append(again, group...)
	}
	packing.SortPods(again)
	return again
}
