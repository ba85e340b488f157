package search

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/solve/problem"
	"github.com/tenon-sh/tenon/engine/spread/advice"
)

// Shared turns caps that several items take part in into groups.
func Shared(shares map[advice.Share][]int) []problem.Group {
	var out []problem.Group
	for _, s := range sortedKeys(shares, func(a, b advice.Share) int { return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Cap, b.Cap)) }) {
		if len(shares[s]) > 1 {
			out = append(out, problem.Group{Members: shares[s], Cap: s.Cap})
		}
	}
	return out
}

// Hosts are offers as hosts of a problem. What many sets of offers are among them is found once for each that is different.
type Hosts struct {
	offers []int
	known  map[string]problem.Bits
	text   []byte
}

// NewHosts are the offers in this order.
func NewHosts(offers []int) *Hosts { return &Hosts{offers: offers, known: map[string]problem.Bits{}} }

// Among returns which of the hosts are offers of the set; nil if none is. It is not to be changed.
func (h *Hosts) Among(offers market.Set) problem.Bits {
	h.text = h.text[:0]
	for _, word := range offers {
		h.text = binary.LittleEndian.AppendUint64(h.text, word)
	}
	b, known := h.known[string(h.text)]
	if !known {
		b = hostsAmong(offers, h.offers)
		h.known[string(h.text)] = b
	}
	return b
}

func hostsAmong(offers market.Set, hosts []int) problem.Bits {
	b, some := problem.NewBits(len(hosts)), false
	for h, offer := range hosts {
		if offers.Has(offer) {
			b.Set(h)
			some = true
		}
	}
	if !some {
		return nil
	}
	return b
}

// solveWishes solves the problem twice if lots wish to have few of their pods on
// one machine, and takes the wishes if what they cost more is worth it.
func (k *Searcher) solveWishes(p problem.Problem, lots []*lot) problem.Answer {
	free := solve.Solve(p)
	wished := p
	wished.Items = slices.Clone(p.Items)
	some := false
	for i, l := range lots {
		if n := l.wish.PerHost; n > 0 && (p.Items[i].PerHost == 0 || n < p.Items[i].PerHost) {
			wished.Items[i].PerHost = n
			some = true
		}
	}
	if !some {
		return free
	}
	kept := solve.Solve(wished)
	kept.Steps += free.Steps
	lost := money.Micro(0)
	for _, n := range free.Nodes {
		for _, it := range n.Items {
			if w := lots[it.Item].wish; w.PerHost > 0 {
				lost += k.Options.Regret(w.Weight).Times(n.Times * max(it.Count-w.PerHost, 0))
			}
		}
	}
	if len(kept.Left) <= len(free.Left) && k.spent(kept)-k.spent(free) <= lost {
		return kept
	}
	free.Steps = kept.Steps
	return free
}

// spent is the answer's cost with the charge for each node.
func (k *Searcher) spent(a problem.Answer) money.Micro {
	sum := money.Micro(a.Cost)
	for _, n := range a.Nodes {
		sum += k.Market.Every.Times(n.Times)
	}
	return sum
}

// problem is the tier's offers, and its limits and reservations as budgets.
func (k *Searcher) problem(tier []*market.Pool, only func(*market.Type) bool) (p problem.Problem, hosts []int) {
	p.Charge, p.Steps = int64(k.Market.Every), k.Options.Steps
	quotas := map[int]int{}
	for _, pl := range tier {
		if !k.serves(pl) {
			continue
		}
		most := pl.Offers.Shared(k.Useful)
		p.Hosts, hosts = slices.Grow(p.Hosts, most), slices.Grow(hosts, most)
		first := len(p.Budgets)
		for _, e := range pl.Left {
			p.Budgets = append(p.Budgets, max(e.Value, 0))
		}
		for i := range pl.Offers.All {
			o := &k.Market.Offers[i]
			if !k.Useful.Has(i) || !k.Market.OnSale(i) || !only(o.Type) {
				continue
			}
			h := problem.Host{Name: o.Name(), Room: o.Type.Room, Price: int64(o.Weighs)}
			for j, e := range pl.Left {
				if n := o.Type.Counts(e.Name); n > 0 {
					h.Draws = append(h.Draws, problem.Draw{Budget: first + j, Amount: n})
				}
			}
			if o.Quota >= 0 {
				b, ok := quotas[o.Quota]
				if !ok {
					b = len(p.Budgets)
					quotas[o.Quota] = b
					p.Budgets = append(p.Budgets, int64(k.Market.Quotas[o.Quota].Left))
				}
				h.Draws = append(h.Draws, problem.Draw{Budget: b, Amount: 1})
			}
			p.Hosts = append(p.Hosts, h)
			hosts = append(hosts, i)
		}
	}
	return p, hosts
}

// serves reports whether some pod could be hosted by what the pool sells.
func (k *Searcher) serves(p *market.Pool) bool {
	return slices.ContainsFunc(p.Types, func(t *market.Type) bool {
		for i := t.First; i < t.Last; i++ {
			if k.Useful.Has(i) {
				return true
			}
		}
		return false
	})
}

// groups writes what lots may not share on one machine.
func (k *Searcher) groups(p *problem.Problem, lots []*lot) {
	owners, shunned, shares := map[int32][]int{}, map[int32][]int{}, map[advice.Share][]int{}
	for i, l := range lots {
		for _, g := range l.simple.Owns {
			owners[g] = append(owners[g], i)
		}
		for _, g := range l.simple.Shunned {
			shunned[g] = append(shunned[g], i)
		}
		for _, s := range l.simple.Shared {
			shares[s] = append(shares[s], i)
		}
	}
	p.Groups = append(p.Groups, Shared(shares)...)
	for _, g := range sortedKeys(owners, cmp.Compare[int32]) {
		if slices.Equal(owners[g], shunned[g]) {
			if len(owners[g]) > 1 {
				p.Groups = append(p.Groups, problem.Group{Members: owners[g], Cap: 1})
			}
			continue
		}
		for _, i := range owners[g] {
			for _, j := range shunned[g] {
				if i != j {
					p.Items[i].Conflicts = append(p.Items[i].Conflicts, j)
				}
			}
		}
	}
	k.mixed(p, lots)
}
