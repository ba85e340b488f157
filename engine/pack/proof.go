package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/solve"
)

// proof is what is needed to say how little the lots could have cost.
type proof struct {
	all    []*lot
	forced bool          // every lot could go one way only
	free   solve.Problem // everything that was on sale
	hosts  []int
	solved int
	bound  int64
}

func (k *Packer) newProof(lots []*lot) *proof {
	p := &proof{all: slices.Clone(lots)}
	p.forced = len(k.market.tiers) == 1 && !slices.ContainsFunc(k.market.pools, func(p *pool) bool { return p.least }) &&
		!slices.ContainsFunc(lots, func(l *lot) bool { return l.told })
	if p.forced {
		return p
	}
	for _, tier := range k.market.tiers {
		at, offers := k.problem(tier, func(*machine) bool { return true })
		p.free.Hosts = append(p.free.Hosts, at.Hosts...)
		p.hosts = append(p.hosts, offers...)
	}
	for i := range p.free.Hosts {
		p.free.Hosts[i].Draws = nil
	}
	return p
}

func (p *proof) add(a solve.Answer) {
	p.solved++
	p.bound += a.Bound
}

// least is what placing on new machines what the search has placed there costs
// at least. Where one tier was searched and every lot could go one way only,
// the search has proven it. Else it is proven for all the ways they might have
// gone: in any domain, and in any lighter pool, whose machines they may share.
func (k *Packer) least(p *proof) int64 {
	if p.forced || p.solved == 0 {
		return p.bound
	}
	free := p.free
	byClass := map[*class]int{}
	for _, l := range p.all {
		if l.placed == 0 {
			continue
		}
		at, ok := byClass[l.class]
		if !ok {
			at = len(free.Items)
			byClass[l.class] = at
			free.Items = append(free.Items, solve.Item{
				Name: l.class.pod.String(), Need: l.class.need, PerHost: l.simple.PerHost, Hosts: among(l.class.offers, p.hosts),
			})
		}
		free.Items[at].Count += l.placed
	}
	return solve.Bound(free)
}

// doubt takes the bound back if pods it counts on did not stay on new machines,
// or a machine holds more than the modest number that it was proven with.
func (k *Packer) doubt() {
	for _, b := range k.new {
		if slices.ContainsFunc(b.pods, func(x *waiting) bool { return x.proven && x.squeezed }) {
			k.plan.Bound = 0
		}
	}
	moved := func(x *waiting) bool { return x.proven }
	if slices.ContainsFunc(k.left, moved) {
		k.plan.Bound = 0
	}
	for _, b := range k.old {
		if slices.ContainsFunc(b.pods, moved) {
			k.plan.Bound = 0
		}
	}
}
