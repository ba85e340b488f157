package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/solve"
)

// proof is what is needed to say how little the pods that were placed by search could have cost.
type proof struct {
	forced bool          // every lot could go one way only
	free   solve.Problem // everything that was on sale
	hosts  []int
	bound  int64
}

func (k *Packer) newProof(lots []*lot) *proof {
	p := &proof{forced: len(k.market.tiers) == 1 && !slices.ContainsFunc(lots, func(l *lot) bool { return l.told })}
	for _, tier := range k.market.tiers {
		at, offers := k.problem(tier, func(*machine) bool { return true })
		p.free.Hosts = append(p.free.Hosts, at.Hosts...)
		p.hosts = append(p.hosts, offers...)
	}
	for _, t := range k.market.pools {
		p.forced = p.forced && !t.least
	}
	for i := range p.free.Hosts {
		p.free.Hosts[i].Draws = nil
	}
	return p
}

// bound is what placing on new machines the pods that the search has placed
// there costs at least. Where one tier was searched, every lot could go one way
// only and all stayed where they were put, the search has proven it. Else it is
// proven for all the ways they might have gone: in any domain, and in any
// lighter pool, whose machines they may share.
func (k *Packer) bound() int64 {
	if k.proof == nil {
		return 0
	}
	placed, crowded := map[*class]int{}, map[*class]bool{}
	moved := slices.ContainsFunc(k.left, func(x *waiting) bool { return x.proven }) ||
		slices.ContainsFunc(k.old, func(b *bin) bool { return slices.ContainsFunc(b.pods, func(x *waiting) bool { return x.proven }) })
	for _, b := range k.new {
		for _, x := range b.pods {
			if x.proven {
				placed[x.class]++
				crowded[x.class] = crowded[x.class] || x.squeezed
				moved = moved || x.squeezed
			}
		}
	}
	if k.proof.forced && !moved {
		return k.proof.bound
	}
	free := k.proof.free
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
		}
		free.Items = append(free.Items, item)
	}
	return solve.Bound(free)
}
