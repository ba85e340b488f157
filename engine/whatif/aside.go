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
		home := &y.residents[y.homes[x]]
		home.putBack()
		y.k.CountOn(home.bin, x)
	}
	y.k.Unplaced = nil
}

// HasAside reports whether pods of machine i are aside.
func (y *Cluster) HasAside(i int) bool { return slices.ContainsFunc(y.residents[i].pods, isAside) }

func isAside(x *packing.Pod) bool { return x.Counted }

// Recall takes up the pods of machine i that are aside.
func (y *Cluster) Recall(i int) { y.k.Unplaced = append(y.k.Unplaced, y.residents[i].recall()...) }

// Restore puts machine i back as it was, with its own pods, wherever they are now.
func (y *Cluster) Restore(i int) {
	home := &y.residents[i]
	home.recall()
	for _, x := range home.pods {
		if x.Bin != nil {
			y.k.Detach(x)
		}
	}
	home.reopen()
	for _, x := range home.pods {
		y.k.Join(home.bin, x)
	}
}
