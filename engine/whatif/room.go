package whatif

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/money"
)

// Need is what all pods that may move ask for together.
func (y *Cluster) Need() []int64 {
	sum := make([]int64, len(y.k.Market.Dims))
	for _, l := range y.residents {
		for _, x := range l.pods {
			for d, n := range x.Class.Need {
				sum[d] += n
			}
		}
	}
	return sum
}

// Room is what machine i offers to its own pods and others that may move.
func (y *Cluster) Room(i int) []int64 {
	room := slices.Clone(y.freeOn(i))
	for _, x := range y.residents[i].pods {
		for d, n := range x.Class.Need {
			room[d] += n
		}
	}
	return room
}

// Sold calls report with every type of machine that can be bought: what room it offers, and what it costs at least.
func (y *Cluster) Sold(report func(room []int64, price money.Micro)) {
	for _, p := range y.k.Market.Pools {
		for _, t := range p.Types {
			if !p.Sells([]*market.Type{t}, p.Offers) {
				continue
			}
			report(t.Room, y.k.Market.LeastWeight(t))
		}
	}
}

// Full reports whether machine i has no room for any pod that may move.
func (y *Cluster) Full(i int) bool {
	free := y.freeOn(i)
	return slices.ContainsFunc(y.usual, func(s share) bool { return free[s.dim] < s.least })
}
