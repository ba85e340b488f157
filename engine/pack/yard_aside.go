package pack

import (
	"github.com/tenon-sh/tenon/engine/packing"
)

// Aside puts the pods in the air aside, for machines to be bought for them later.
// Until then they count as running where they are at home, so that others are
// spread and kept apart as they are to be. What was done so far stands.
func (y *Yard) Aside() {
	for _, x := range y.k.Unplaced {
		y.put(x)
	}
	y.k.Unplaced, y.trail = nil, nil
}

// put puts the pod aside.
func (y *Yard) put(x *packing.Pod) {
	home := y.homes[x]
	if y.lodgers[home].aside == 0 {
		y.enter(home)
	}
	y.lodgers[home].aside++
	y.k.Ledger.Put(x.Class.Subject, y.k.Existing[home].Node)
}

// Astray reports whether pods of machine i are aside.
func (y *Yard) Astray(i int) bool { return y.lodgers[i].aside > 0 }

// recall ends that pods of machine i are aside, and returns them.
func (y *Yard) recall(i int) []*packing.Pod {
	l := &y.lodgers[i]
	if l.aside == 0 {
		return nil
	}
	var out []*packing.Pod
	for _, x := range l.pods {
		if x.Bin == nil {
			y.k.Ledger.Take(x.Class.Subject, y.k.Existing[i].Node)
			out = append(out, x)
		}
	}
	y.leave(i)
	l.aside = 0
	return out
}

// Recall takes up the pods of machine i that are aside.
func (y *Yard) Recall(i int) {
	for _, x := range y.recall(i) {
		y.trail = append(y.trail, step{pod: x})
		y.k.Unplaced = append(y.k.Unplaced, x)
	}
	y.trail = append(y.trail, step{recalled: i + 1})
}

// Restore puts machine i back as it was, with its own pods, wherever they are
// now. What was done so far stands.
func (y *Yard) Restore(i int) {
	y.recall(i)
	for _, x := range y.lodgers[i].pods {
		if x.Bin != nil {
			y.k.Detach(x)
		}
	}
	y.reopen(i)
	for _, x := range y.lodgers[i].pods {
		y.k.Join(y.k.Existing[i], x)
	}
	y.trail = nil
}
