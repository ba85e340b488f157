package search

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// onShelf is problem for a tier whose hosts are kept: those that none does better than, whatever the pods.
func (k *Searcher) onShelf(tier []*market.Pool) (p problem.Problem, hosts []int) {
	s, known := k.shelves[tier[0]]
	if !known {
		if k.shelves == nil {
			k.shelves = map[*market.Pool]*shelf{}
			k.sameForAll = !k.changing()
		}
		if k.sameForAll {
			s = k.newShelf(tier)
		}
		k.shelves[tier[0]] = s
	}
	if s == nil {
		return k.onSale(tier)
	}
	p.Charge, p.Steps = int64(k.Market.Every), k.Options.Steps
	p.Hosts = s.hosts[:len(s.hosts):len(s.hosts)]
	return p, s.offers
}

// onSale is the problem of a tier without items.
func (k *Searcher) onSale(tier []*market.Pool) (p problem.Problem, hosts []int) {
	return k.problem(tier, k.Market.Varied)
}

// changing reports whether what is bought changes what else can be, or whether pods would rather have one of two hosts
// that do equally well otherwise.
func (k *Searcher) changing() bool {
	return len(k.Market.Quotas) > 0 || k.Market.SoftPools() ||
		slices.ContainsFunc(k.Market.Pools, func(p *market.Pool) bool { return len(p.Left) > 0 }) ||
		slices.ContainsFunc(k.Classes, func(c *packing.Class) bool { return len(c.Wishes) > 0 })
}

func (k *Searcher) newShelf(tier []*market.Pool) *shelf {
	p, offers := k.onSale(tier)
	order := make([]int, len(offers))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &p.Hosts[a], &p.Hosts[b]
		return cmp.Or(cmp.Compare(x.Price, y.Price), slices.Compare(y.Room, x.Room), strings.Compare(x.Name, y.Name), cmp.Compare(a, b))
	})
	s := &shelf{}
	alike := map[string][]int{} // positions on the shelf of those that take the same pods, but for their room
	var b []byte
	for _, i := range order {
		h := &p.Hosts[i]
		b = k.appendTakes(b[:0], offers[i])
		if slices.ContainsFunc(alike[string(b)], func(j int) bool { return better(&s.hosts[j], h) }) {
			continue
		}
		alike[string(b)] = append(alike[string(b)], len(s.hosts))
		s.hosts, s.offers = append(s.hosts, *h), append(s.offers, offers[i])
	}
	return s
}

// better reports whether a host would be taken instead of the other in any case. It is told of those that are no dearer.
func better(a, other *problem.Host) bool {
	if a.Price == other.Price && a.Name > other.Name {
		return false
	}
	for d, n := range other.Room {
		if a.Room[d] < n {
			return false
		}
	}
	return true
}

// appendTakes appends what two offers of a pool share only if they take the same pods, as far as these have room.
func (k *Searcher) appendTakes(b []byte, offer int) []byte {
	o := &k.Market.Offers[offer]
	b = append(append(b, o.Type.Pool.ID.Kind...), '/')
	b = binary.AppendVarint(append(append(b, o.Type.Pool.ID.Name...), '/'), int64(o.DomainSet))
	b = append(b, 0)
	if k.Market.Exotics != nil && k.Market.Exotics.Has(offer) {
		b[len(b)-1] = 1
	}
	var last *packing.Demands
	for _, c := range k.Classes {
		if c.Demands == last {
			continue
		}
		last = c.Demands
		b = append(b, 0)
		if last.Offers.Has(offer) {
			b[len(b)-1] = 1
		}
	}
	return b
}
