package whatif

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/packing"
)

// Aside puts the unplaced pods aside, for machines to be bought for them later.
// Until then they count as running where they are at home, so that others are
// spread and kept apart as they are to be.
func (y *Cluster) Aside() {
	for _, x := range y.k.Unplaced {
		home := y.homes[x]
		y.putBack(home)
		y.k.CountOn(y.k.Existing[home], x)
	}
	y.k.Unplaced = nil
}

// HasAside reports whether pods of machine i are aside.
func (y *Cluster) HasAside(i int) bool { return slices.ContainsFunc(y.residents[i].pods, isAside) }

func isAside(x *packing.Pod) bool { return x.Counted }

// Recall takes up the pods of machine i that are aside.
func (y *Cluster) Recall(i int) { y.k.Unplaced = append(y.k.Unplaced, y.recall(i)...) }

// recall ends that pods of machine i are aside, and returns them.
func (y *Cluster) recall(i int) []*packing.Pod {
	var out []*packing.Pod
	for _, x := range y.residents[i].pods {
		if x.Counted {
			y.k.Uncount(y.k.Existing[i], x)
			out = append(out, x)
		}
	}
	if len(out) > 0 {
		y.takeAway(i)
	}
	return out
}

// Restore puts machine i back as it was, with its own pods, wherever they are now.
func (y *Cluster) Restore(i int) {
	y.recall(i)
	for _, x := range y.residents[i].pods {
		if x.Bin != nil {
			y.k.Detach(x)
		}
	}
	y.reopen(i)
	for _, x := range y.residents[i].pods {
		y.k.Join(y.k.Existing[i], x)
	}
}
