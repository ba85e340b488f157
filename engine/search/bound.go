package search

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/solve/problem"
	"github.com/tenon-sh/tenon/engine/spread/advice"
)

// NewProof notes what is on sale.
func (k *Searcher) NewProof() *Proof {
	p := &Proof{}
	for _, tier := range k.Market.Tiers {
		at, offers := k.problem(tier, func(*market.Type) bool { return true })
		p.draws = slices.Grow(p.draws, len(offers))
		for i, offer := range offers {
			h := &at.Hosts[i]
			p.draws = append(p.draws, k.drawn(h.Draws, offer, len(p.budgets)))
			h.Draws = nil
		}
		p.budgets = append(p.budgets, at.Budgets...)
		if len(p.Hosts) == 0 {
			p.Free.Hosts, p.Hosts = at.Hosts, offers
			continue
		}
		p.Free.Hosts = append(p.Free.Hosts, at.Hosts...)
		p.Hosts = append(p.Hosts, offers...)
	}
	return p
}

// drawn are the draws of one tier's offer on the budgets of all tiers, after those of the tiers before it. Pools with minValues book the
// largest type of a menu and are expected to get the cheapest, which is not known to draw as much.
func (k *Searcher) drawn(draws []problem.Draw, offer, before int) []problem.Draw {
	if k.Market.Offers[offer].Type.Pool.HasMinValues {
		return nil
	}
	for i := range draws {
		draws[i].Budget += before
	}
	return draws
}

// limited is what is on sale within what limits and reservations leave.
func (p *Proof) limited() []problem.Host {
	out := slices.Clone(p.Free.Hosts)
	for i := range out {
		out[i].Draws = p.draws[i]
	}
	return out
}

// Priced is what is on sale at its price alone.
func (p *Proof) Priced(m *market.Market) []problem.Host {
	if !m.Charged {
		return p.Free.Hosts
	}
	out := slices.Clone(p.Free.Hosts)
	for h, offer := range p.Hosts {
		out[h].Price = int64(m.Offers[offer].Expected)
	}
	return out
}

// force reports whether what the search proves of the lots is all there is to prove.
func (k *Searcher) force(lots []*lot, rest []*packing.Pod) bool {
	return len(rest) == 0 && len(k.Market.Tiers) == 1 && !k.Market.Charged &&
		!slices.ContainsFunc(k.Market.Pools, func(p *market.Pool) bool { return p.HasMinValues }) &&
		!slices.ContainsFunc(lots, func(l *lot) bool { return l.hasAlternatives })
}

// Bound is what placing on new machines the pods that are there costs at
// least. Where one tier was searched for all of them, every lot could go one
// way only and all stayed where they were put, the search has proven it. Else it is
// proven for all the ways they might have gone: in any domain, and in any
// lighter pool, whose machines they may share.
func (k *Searcher) Bound() money.Micro {
	on := proving{k}.onNew()
	if k.Proof.forced && !on.moved && !slices.ContainsFunc(k.Unplaced, func(x *packing.Pod) bool { return x.Proven }) {
		return k.Proof.bound
	}
	free, ok := proving{k}.onNewMachines(on, false)
	if !ok {
		return 0
	}
	free.Hosts = k.Proof.Priced(k.Market)
	return money.Micro(solve.Bound(free, int64(packing.Price(k.Packing))))
}

// SpendBound is what these pods cost at least with the charge for each machine, which is what plans make small, within limits and
// in the order of pools.
func (k *Searcher) SpendBound() money.Micro {
	free, ok := proving{k}.onNewMachines(proving{k}.onNew(), true)
	if !ok {
		return 0
	}
	free.Hosts, free.Budgets = k.Proof.limited(), k.Proof.budgets
	free.Charge = int64(k.Market.Every)
	return money.Micro(solve.Spend(free, int64(packing.Weight(k.Packing))))
}

// onNewMachines is the problem of placing on new machines the pods that are there, in all the ways they might have gone, or in those that
// keep the order of pools; false if for some nothing is on sale.
func (k proving) onNewMachines(on onNew, ordered bool) (problem.Problem, bool) {
	free, among := k.Proof.Free, NewHosts(k.Proof.Hosts)
	items := map[*packing.Class][]placedItem{}
	shares := map[advice.Share][]int{}
	reach := func(c *packing.Class) market.Set {
		if ordered {
			return k.inOrder(c, on.offers[c])
		}
		return c.Offers
	}
	wholes := k.wholes(on, reach, among)
	for _, c := range k.Classes {
		if on.placed[c] == 0 {
			continue
		}
		if x := wholes[c]; x != nil {
			if x.first == c {
				items[c] = []placedItem{{len(free.Items), x.offers}}
				free.Items = append(free.Items, x.item(among))
			}
			continue
		}
		offers := reach(c)
		for _, p := range k.portions(c, on, ordered) {
			if ordered {
				p.offers = slices.Clone(p.offers)
				p.offers.Intersect(offers)
			}
			item := problem.Item{Name: c.Pod.String() + p.name, Need: c.Need, Count: p.pods, Hosts: among.Among(p.offers)}
			if item.Hosts == nil {
				return free, false
			}
			if !on.crowded[c] {
				item.PerHost = k.Advice.PerHost(c.PodInfo)
				for _, s := range k.Advice.Caps(c.PodInfo) {
					shares[s] = append(shares[s], len(free.Items))
				}
			}
			items[c] = append(items[c], placedItem{len(free.Items), p.offers})
			free.Items = append(free.Items, item)
		}
	}
	free.Groups = Shared(shares)
	free.Seeds = []problem.Answer{k.asPlanned(items, free.Items)}
	return free, true
}

// asPlanned is the planned machines as an answer, by the items of classes.
func (k proving) asPlanned(items map[*packing.Class][]placedItem, all []problem.Item) problem.Answer {
	left := make([]int, len(all))
	for i := range all {
		left[i] = all[i].Count
	}
	at := map[int]int{}
	for h, offer := range k.Proof.Hosts {
		at[offer] = h
	}
	var out problem.Answer
	for _, b := range k.Planned {
		h, ok := at[b.Offer]
		if !ok || b.Machine != nil {
			continue
		}
		counts := map[int]int{}
		for _, x := range b.Pods {
			if i := itemOf(b.Offer, items[x.Class], left); i >= 0 {
				left[i]--
				counts[i]++
			}
		}
		n := problem.Node{Host: h, Times: 1}
		for _, i := range sortedKeys(counts, cmp.Compare[int]) {
			n.Items = append(n.Items, problem.Portion{Item: i, Count: counts[i]})
		}
		out.Nodes = append(out.Nodes, n)
	}
	return out
}

// placedItem is an item of a class, and the offers on which it may be placed.
type placedItem struct {
	item   int
	offers market.Set
}

// itemOf is the item that a pod of a class is taken for on a machine of the offer: that which may go to the fewest offers, as long
// as any are left of it; -1 if there is none.
func itemOf(offer int, items []placedItem, left []int) int {
	for _, it := range items {
		if left[it.item] > 0 && it.offers.Has(offer) {
			return it.item
		}
	}
	return -1
}

// whole is pods on new machines that have to share one, in every plan: one item of the bound.
type whole struct {
	first  *packing.Class
	pods   int
	placed int // of the group, wherever they are
	need   []int64
	offers market.Set
}

// wholes are the pods on new machines that have to share one, by their classes. Where some of a group are elsewhere, or a machine that
// is sold for all of them holds less than they need, nothing is said of them.
func (k proving) wholes(on onNew, offers func(*packing.Class) market.Set, among *Hosts) map[*packing.Class]*whole {
	groups, of := map[int32]*whole{}, map[*packing.Class]int32{}
	for _, c := range k.Classes {
		g, placed, ok := k.Advice.OnOneMachine(c.PodInfo)
		if !ok || on.placed[c] == 0 {
			continue
		}
		if groups[g] == nil {
			groups[g] = &whole{first: c, placed: placed, need: make([]int64, len(c.Need)), offers: slices.Clone(offers(c))}
		}
		of[c] = g
		x := groups[g]
		x.pods += on.placed[c]
		x.offers.Intersect(offers(c))
		for d, n := range c.Need {
			for range on.placed[c] {
				x.need[d] = amount.Plus(x.need[d], n)
			}
		}
	}
	out := map[*packing.Class]*whole{}
	for _, g := range sortedKeys(groups, cmp.Compare[int32]) {
		if x := groups[g]; x.pods == x.placed {
			k.Market.KeepFitting(x.offers, x.need)
		} else {
			x.offers = market.NewSet(len(k.Market.Offers))
		}
	}
	for c, g := range of {
		if x := groups[g]; among.Among(x.offers) != nil {
			out[c] = x
		}
	}
	return out
}

// item is the whole in the bound.
func (x *whole) item(among *Hosts) problem.Item {
	return problem.Item{Name: x.first.Pod.String() + " and all that go with it", Need: x.need, Count: 1, Hosts: among.Among(x.offers)}
}
