package search

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/spread"
)

// NewProof notes what is on sale.
func (k *Searcher) NewProof() *Proof {
	p := &Proof{}
	for _, tier := range k.Market.Tiers {
		at, offers := k.problem(tier, func(*market.Type) bool { return true })
		p.Free.Hosts = append(p.Free.Hosts, at.Hosts...)
		p.Hosts = append(p.Hosts, offers...)
	}
	for i := range p.Free.Hosts {
		p.Free.Hosts[i].Draws = nil
	}
	return p
}

// force reports whether what the search proves of the lots is all there is to prove.
func (k *Searcher) force(lots []*lot, rest []*packing.Pod) bool {
	return len(rest) == 0 && len(k.Market.Tiers) == 1 &&
		!slices.ContainsFunc(k.Market.Pools, func(p *market.Pool) bool { return p.HasMinValues }) &&
		!slices.ContainsFunc(lots, func(l *lot) bool { return l.hasAlternatives })
}

// Bound is what placing on new machines the pods that are there costs at
// least. Where one tier was searched for all of them, every lot could go one
// way only and all stayed where they were put, the search has proven it. Else it is
// proven for all the ways they might have gone: in any domain, and in any
// lighter pool, whose machines they may share.
func (k *Searcher) Bound() money.Micro {
	placed, crowded := map[*packing.Class]int{}, map[*packing.Class]bool{}
	moved := false
	for _, bins := range [][]*packing.Bin{k.Existing, k.Planned} {
		for _, b := range bins {
			for _, x := range b.Pods {
				if b.Machine != nil {
					moved = moved || x.Proven
					continue
				}
				placed[x.Class]++
				crowded[x.Class] = crowded[x.Class] || x.Crowded
				moved = moved || x.Crowded || !x.Proven
			}
		}
	}
	if k.Proof.forced && !moved && !slices.ContainsFunc(k.Unplaced, func(x *packing.Pod) bool { return x.Proven }) {
		return k.Proof.bound
	}
	free := k.Proof.Free
	shares := map[spread.Share][]int{}
	for _, c := range k.Classes {
		if placed[c] == 0 {
			continue
		}
		item := solve.Item{Name: c.Pod.String(), Need: c.Need, Count: placed[c], Hosts: HostsAmong(c.Offers, k.Proof.Hosts)}
		if item.Hosts == nil {
			return 0
		}
		if !crowded[c] {
			item.PerHost = k.Ledger.PerHost(c.Subject)
			for _, s := range k.Ledger.Caps(c.Subject) {
				shares[s] = append(shares[s], len(free.Items))
			}
		}
		free.Items = append(free.Items, item)
	}
	free.Groups = Shared(shares)
	return money.Micro(solve.Bound(free))
}
