package pack

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/spread"
)

// proof is what is needed to say how little the pods that were placed on new machines could have cost.
type proof struct {
	forced bool          // every pod was searched for, and every lot could go one way only
	free   solve.Problem // everything that was on sale
	hosts  []int
	bound  int64
}

// newProof notes what is on sale.
func (k *searcher) newProof() *proof {
	p := &proof{}
	for _, tier := range k.Market.Tiers {
		at, offers := k.problem(tier, func(*market.Type) bool { return true })
		p.free.Hosts = append(p.free.Hosts, at.Hosts...)
		p.hosts = append(p.hosts, offers...)
	}
	for i := range p.free.Hosts {
		p.free.Hosts[i].Draws = nil
	}
	return p
}

// force reports whether what the search proves of the lots is all there is to prove.
func (k *searcher) force(lots []*lot, rest []*packing.Pod) bool {
	return len(rest) == 0 && len(k.Market.Tiers) == 1 &&
		!slices.ContainsFunc(k.Market.Pools, func(p *market.Pool) bool { return p.HasMinValues }) &&
		!slices.ContainsFunc(lots, func(l *lot) bool { return l.told })
}

// bound is what placing on new machines the pods that are there costs at
// least. Where one tier was searched for all of them, every lot could go one
// way only and all stayed where they were put, the search has proven it. Else it is
// proven for all the ways they might have gone: in any domain, and in any
// lighter pool, whose machines they may share.
func (k *searcher) bound() int64 {
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
	if k.proof.forced && !moved && !slices.ContainsFunc(k.Unplaced, func(x *packing.Pod) bool { return x.Proven }) {
		return k.proof.bound
	}
	free := k.proof.free
	shares := map[spread.Share][]int{}
	for _, c := range k.Classes {
		if placed[c] == 0 {
			continue
		}
		item := solve.Item{Name: c.Pod.String(), Need: c.Need, Count: placed[c], Hosts: hostsAmong(c.Offers, k.proof.hosts)}
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
	free.Groups = shared(shares)
	return solve.Bound(free)
}

// shared turns caps that several items take part in into groups.
func shared(shares map[spread.Share][]int) []solve.Group {
	var out []solve.Group
	for _, s := range sortedKeys(shares, func(a, b spread.Share) int { return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Cap, b.Cap)) }) {
		if len(shares[s]) > 1 {
			out = append(out, solve.Group{Members: shares[s], Cap: s.Cap})
		}
	}
	return out
}
