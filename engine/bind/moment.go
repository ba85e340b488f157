package bind

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/spread/terms"
)

// Moment is a packing of which all pods can be bound, before one more is put on a machine.
type Moment struct {
	k        *packing.Packing
	machines int   // planned
	openings []int // how far the groups have come by which pods are spread
}

// Now is the packing as it is.
func Now(k *packing.Packing) Moment { return Moment{k, len(k.Planned), openings(k)} }

// Admits reports whether the pod that has been put on a machine since can be bound after all others, and these as before.
// A machine more changes nothing for them if no spread has an emptier domain by it: it had none at any time
// then, as pods only come while they are bound. It may be false although they can.
func (m Moment) Admits(x *packing.Pod) bool {
	if !Stable(m.k, x) || x.Bin.Machine == nil && len(x.Bin.Place.Company) > 0 {
		return false
	}
	if len(m.k.Planned) == m.machines {
		return true
	}
	m.k.Ledger.Take(x.Class.PodInfo, x.Bin.Node)
	now := openings(m.k)
	m.k.Ledger.Put(x.Class.PodInfo, x.Bin.Node)
	return slices.Equal(m.openings, now)
}

func openings(k *packing.Packing) []int {
	groups := k.Ledger.Groups()
	out := make([]int, len(groups))
	for i, g := range groups {
		if g.Kind == terms.TopologySpread {
			out[i] = int(g.Least())
		}
	}
	return out
}
