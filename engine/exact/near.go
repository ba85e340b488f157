package exact

import (
	"github.com/tenon-sh/tenon/engine/packing"
)

// candidates are the planned machines that may take pods of the class, as far as the company it wants on the very machine goes,
// in order: of thousands few have any.
func (k *Placer) candidates(c *packing.Class) []*packing.Bin {
	group, changes, wanted := k.Advice.Wants(c.PodInfo)
	if !wanted {
		return k.Planned
	}
	known, ok := k.near[group]
	if ok && known.changes == changes {
		return known.bins
	}
	known = nearby{changes: changes}
	for _, b := range k.Planned {
		if k.Advice.Hosts(group, b.Node) {
			known.bins = append(known.bins, b)
		}
	}
	if k.near == nil {
		k.near = map[int32]nearby{}
	}
	k.near[group] = known
	return known.bins
}
