package whatif

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/search"
)

// Reset puts everything back. What was bought can be bought once more by Move.
func (y *Cluster) Reset() {
	k := y.k
	for i := range y.residents {
		for _, x := range y.residents[i].pods {
			if x.Bin != nil && x.Bin != k.Existing[i] {
				k.Detach(x)
			}
		}
	}
	for _, b := range y.bought {
		if !b.Away {
			k.GiveBack(b)
		}
	}
	for i := range y.residents {
		if k.Existing[i].Away {
			y.residents[i].reopen()
		}
		for _, x := range y.residents[i].pods {
			if x.Bin == nil {
				k.Join(k.Existing[i], x)
			}
		}
	}
	k.Unplaced = nil
}

// Where says where the pods of machine i are: on a machine by its position, or,
// as the complement, on one that was bought.
func (y *Cluster) Where(i int) []int {
	out := make([]int, len(y.residents[i].pods))
	for n, x := range y.residents[i].pods {
		if x.Bin.Machine != nil {
			out[n] = x.Bin.Number
		} else {
			out[n] = ^slices.Index(y.bought, x.Bin)
		}
	}
	return out
}

// Move clears machines and puts their pods where asked, as Where says it, buying
// once more what is named. It reports whether kube-scheduler could bind all of
// them one after the other; if not, what was done is to be undone.
func (y *Cluster) Move(machines []int, where [][]int) bool {
	target := map[*packing.Pod]*packing.Bin{}
	var again []*packing.Bin
	for n, i := range machines {
		for j, x := range y.residents[i].pods {
			if at := where[n][j]; at >= 0 {
				target[x] = y.k.Existing[at]
			} else {
				target[x] = y.bought[^at]
			}
		}
		y.Clear(i)
	}
	for _, x := range y.k.Unplaced {
		b := target[x]
		if b == nil {
			return false // a pod of another machine, which is there only for now
		}
		if b.Machine == nil && b.Away {
			y.k.BuyAgain(b)
			again = append(again, b)
		}
	}
	ok := follow(y.k, target)
	for _, b := range again {
		y.k.Close(b)
	}
	return ok
}

// follow puts the unplaced pods onto their targets, in an order in which that is allowed.
func follow(k *search.Searcher, target map[*packing.Pod]*packing.Bin) bool {
	packing.SortPods(k.Unplaced)
	for len(k.Unplaced) > 0 {
		var rest []*packing.Pod
		for _, x := range k.Unplaced {
			if k.Accepts(target[x], x) {
				k.Join(target[x], x)
				continue
			}
			rest = append(rest, x)
		}
		if len(rest) == len(k.Unplaced) {
			return false
		}
		k.Unplaced = rest
	}
	return true
}
