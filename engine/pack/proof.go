package pack

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
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
func (k *Packer) newProof() *proof {
	p := &proof{}
	for _, tier := range k.market.Tiers {
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
func (k *Packer) force(lots []*lot, rest []*waiting) bool {
	return len(rest) == 0 && len(k.market.Tiers) == 1 &&
		!slices.ContainsFunc(k.market.Pools, func(p *market.Pool) bool { return p.HasMinValues }) &&
		!slices.ContainsFunc(lots, func(l *lot) bool { return l.told })
}

// bound is what placing on new machines the pods that are there costs at
// least. Where one tier was searched for all of them, every lot could go one
// way only and all stayed where they were put, the search has proven it. Else it is
// proven for all the ways they might have gone: in any domain, and in any
// lighter pool, whose machines they may share.
func (k *Packer) bound() int64 {
	placed, crowded := map[*class]int{}, map[*class]bool{}
	moved := false
	for _, bins := range [][]*bin{k.old, k.new} {
		for _, b := range bins {
			for _, x := range b.pods {
				if b.machine != nil {
					moved = moved || x.proven
					continue
				}
				placed[x.class]++
				crowded[x.class] = crowded[x.class] || x.squeezed
				moved = moved || x.squeezed || !x.proven
			}
		}
	}
	if k.proof.forced && !moved && !slices.ContainsFunc(k.left, func(x *waiting) bool { return x.proven }) {
		return k.proof.bound
	}
	free := k.proof.free
	shares := map[spread.Share][]int{}
	for _, c := range k.classes {
		if placed[c] == 0 {
			continue
		}
		item := solve.Item{Name: c.pod.String(), Need: c.need, Count: placed[c], Hosts: among(c.offers, k.proof.hosts)}
		if item.Hosts == nil {
			return 0
		}
		if !crowded[c] {
			item.PerHost = k.ledger.PerHost(c.subject)
			for _, s := range k.ledger.Caps(c.subject) {
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
