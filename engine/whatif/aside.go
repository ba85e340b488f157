package whatif

import (
	"github.com/tenon-sh/tenon/engine/packing"
)

// Aside puts the unplaced pods aside, for machines to be bought for them later.
// Until then they count as running where they are at home, so that others are
// spread and kept apart as they are to be. What was done so far stands.
func (y *Cluster) Aside() {
	for _, x := range y.k.Unplaced {
		y.put(x)
	}
	y.k.Unplaced, y.trail = nil, nil
}

// put puts the pod aside.
func (y *Cluster) put(x *packing.Pod) {
	home := y.homes[x]
	if y.residents[home].aside == 0 {
		enter(y, home)
	}
	y.residents[home].aside++
	y.k.CountOn(y.k.Existing[home], x)
}

// HasAside reports whether pods of machine i are aside.
func (y *Cluster) HasAside(i int) bool { return y.residents[i].aside > 0 }

// recall ends that pods of machine i are aside, and returns them.
func (y *Cluster) recall(i int) []*packing.Pod {
	l := &y.residents[i]
	if l.aside == 0 {
		return nil
	}
	var out []*packing.Pod
	for _, x := range l.pods {
		if x.Bin == nil {
			y.k.Uncount(y.k.Existing[i], x)
			out = append(out, x)
		}
	}
	leave(y, i)
	l.aside = 0
	return out
}

// Recall takes up the pods of machine i that are aside.
func (y *Cluster) Recall(i int) {
	for _, x := range y.recall(i) {
		y.trail = append(y.trail, change{pod: x})
		y.k.Unplaced = append(y.k.Unplaced, x)
	}
	y.trail = append(y.trail, change{recalled: i + 1})
}

// Restore puts machine i back as it was, with its own pods, wherever they are
// now. What was done so far stands.
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
	y.trail = nil
}
