package search

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/spread/advice"
)

// onNew is what is on new machines, and on others.
type onNew struct {
	placed  map[*packing.Class]int                  // so many pods of each class
	offers  map[*packing.Class]map[int]int          // and so many on machines of each offer
	crowded map[*packing.Class]bool                 // some of them beyond what a machine should hold of them
	moved   bool                                    // not all pods that were searched for are where they were put, or others are there
	there   map[*packing.Class]map[*packing.Bin]int // so many of each class that groups count on each machine that is there or on its way
	counted map[int32][]*packing.Class              // the classes of all these that a group counts
	moving  map[moversOf]*movers                    // the pods of these by domain, as far as they were asked for
}

// moversOf says of which group, and by domain of which key.
type moversOf struct {
	group int32
	key   string
}

// movers are pods that have been placed, and might have been elsewhere.
type movers struct {
	pods int
	in   map[string]int
}

func (k proving) onNew() onNew {
	on := onNew{
		placed: map[*packing.Class]int{}, offers: map[*packing.Class]map[int]int{}, crowded: map[*packing.Class]bool{},
		there: map[*packing.Class]map[*packing.Bin]int{}, counted: map[int32][]*packing.Class{}, moving: map[moversOf]*movers{},
	}
	for _, b := range k.Existing {
		for _, x := range b.Pods {
			on.moved = on.moved || x.Proven
			if len(x.Class.PodInfo.Members) > 0 {
				increment(on.there, x.Class, b)
			}
		}
	}
	for _, b := range k.Planned {
		for _, x := range b.Pods {
			on.placed[x.Class]++
			increment(on.offers, x.Class, b.Offer)
			on.crowded[x.Class] = on.crowded[x.Class] || x.Crowded
			on.moved = on.moved || x.Crowded || !x.Proven
		}
		k.noteCrowd(b, on.crowded)
	}
	for _, c := range k.Classes {
		if on.placed[c] > 0 || on.there[c] != nil {
			for _, g := range c.PodInfo.Members {
				on.counted[g] = append(on.counted[g], c)
			}
		}
	}
	return on
}

// increment counts one more of a class at a place.
func increment[P comparable](counts map[*packing.Class]map[P]int, c *packing.Class, at P) {
	if counts[c] == nil {
		counts[c] = map[P]int{}
	}
	counts[c][at]++
}

// noteCrowd notes which classes have more pods on the machine than their terms on single machines allow, as where
// pods that have to share a machine prefer not to.
func (k proving) noteCrowd(b *packing.Bin, crowded map[*packing.Class]bool) {
	pods, shares := map[*packing.Class]int{}, map[advice.Share]int{}
	for _, x := range b.Pods {
		if x.Class.Plain {
			continue
		}
		pods[x.Class]++
	}
	for c, n := range pods {
		for _, s := range k.Advice.Caps(c.PodInfo) {
			shares[s] += n
		}
	}
	for c, n := range pods {
		most := k.Advice.PerHost(c.PodInfo)
		if most > 0 && n > most || slices.ContainsFunc(k.Advice.Caps(c.PodInfo), func(s advice.Share) bool { return shares[s] > s.Cap }) {
			crowded[c] = true
		}
	}
}
