package exact

import (
	"github.com/tenon-sh/tenon/engine/packing"
)

// nearby are the planned machines that hold company that pods want, as of so many changes.
type nearby struct {
	bins    []*packing.Bin
	changes int
}

// candidates are the planned machines that may take pods of the class, as far as the company it wants on the very machine goes,
// in order: of thousands few have any.
func (k *Placer) candidates(c *packing.Class) []*packing.Bin {
	group, changes, wanted := k.Ledger.Wants(c.Subject)
	if !wanted {
		return k.Planned
	}
	known, ok := k.near[group]
	if ok && known.changes == changes {
		return known.bins
	}
	known = nearby{changes: changes}
	for _, b := range k.Planned {
		if k.Ledger.Hosts(group, b.Node) {
			known.bins = append(known.bins, b)
		}
	}
	if k.near == nil {
		k.near = map[int32]nearby{}
	}
	k.near[group] = known
	return known.bins
}

// growth is which offers machines would become to hold one more pod of a class, as they were when that was last asked.
type growth struct {
	class *packing.Class
	to    map[*packing.Bin]grown
}

// grown is an offer, or -1, and what had been done to the machine by then.
type grown struct{ offer, changes int }

// grownFor is grown, which need not be asked again of a machine that is as it was, unless limits may have changed the answer.
func (k *Placer) grownFor(b *packing.Bin, x *packing.Pod) int {
	o := &k.Market.Offers[b.Offer]
	if pool := o.Type.Pool; len(pool.Limits) > 0 || pool.HasMinValues || len(k.Market.Quotas) > 0 {
		return k.grown(b, x)
	}
	if k.growth.class != x.Class {
		k.growth = growth{x.Class, map[*packing.Bin]grown{}}
	}
	if g, known := k.growth.to[b]; known && g.changes == b.Changes {
		return g.offer
	}
	to := k.grown(b, x)
	k.growth.to[b] = grown{to, b.Changes}
	return to
}
