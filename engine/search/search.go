// Package search places whole classes of pods at once, on machines that solve finds, and proves what they cost at least.
package search

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Search buys machines for whole classes at once, tier by tier; what it cannot
// prove to be right, or not place, stays for the exact tier.
func (k *Searcher) Search() {
	lots, rest := k.lots()
	var p *Proof
	if !k.Loose {
		p = k.Proof
		p.forced = k.force(lots, rest)
	}
	for i := range k.Market.Tiers {
		if len(lots) == 0 {
			break
		}
		var back []*packing.Pod
		k.shared = len(rest) > 0
		lots, back = k.searchTier(k.Market.Tiers[i:], lots, p)
		rest = append(rest, back...)
	}
	for _, l := range lots {
		rest = append(rest, l.pods...)
	}
	k.Unplaced = rest
}

// searchTier buys from the pools of the first of some tiers for the lots they can host, and
// returns what is left, and what came back.
func (k *Searcher) searchTier(tiers [][]*market.Pool, lots []*lot, proof *Proof) (out []*lot, back []*packing.Pod) {
	stock := k.onSale
	if k.Often {
		stock = k.onShelf
	}
	p, hosts := stock(tiers[0])
	var in []*lot
	among := NewHosts(hosts)
	pods := 0
	for _, l := range lots {
		b := among.Among(l.offers)
		if b == nil {
			out = append(out, l)
			continue
		}
		in = append(in, l)
		pods += len(l.pods)
		p.Items = append(p.Items, problem.Item{
			Name: l.name, Rank: -int(l.class.Pod.Priority), Count: l.pieces(), Need: l.need, PerHost: l.simple.PerHost, Hosts: b,
		})
	}
	if len(in) == 0 {
		return out, nil
	}
	k.groups(&p, in)
	p.Shared = k.shared
	p.Unproven = proof == nil || !proof.forced
	if p.Steps == 0 {
		p.Steps = solve.Steps(pods, len(p.Items))
	}
	a := sparing{k}.answer(tiers[1:], p, hosts, in, k.solveWishes(p, in))
	k.Steps += a.Steps
	back = k.buyAll(a, in, hosts, proof != nil)
	if proof != nil {
		proof.bound += money.Micro(a.Bound)
	}
	for _, l := range in {
		if len(l.pods) > 0 {
			out = append(out, l)
		}
	}
	return out, back
}

// buyAll opens the machines of the answer and puts the lots' pods on them. It
// returns the pods of machines that would not keep their pool's minValues.
func (k *Searcher) buyAll(a problem.Answer, lots []*lot, hosts []int, proven bool) (back []*packing.Pod) {
	for _, n := range a.Nodes {
		for range n.Times {
			b := k.Buy(hosts[n.Host])
			for _, it := range n.Items {
				l := lots[it.Item]
				pods := l.take(it.Count)
				for _, x := range pods {
					x.Proven = proven
				}
				if l.piece == 0 {
					k.JoinAll(b, l.class, pods)
					continue
				}
				for _, x := range pods {
					k.Join(b, x)
				}
			}
			if !k.KeepsMinValues(b.Offer, b, nil) {
				back = append(back, b.Pods...)
				for _, x := range slices.Clone(b.Pods) {
					k.Leave(x)
				}
				k.Drop(b)
			}
		}
	}
	return back
}

// Where the limits of a tier do not suffice for all lots, it matters which of them have what there is: those that a lighter pool
// hosts cheaply leave it to those for which there are dear machines only. By itself the tier knows nothing of lighter ones, and
// takes as many pods as it can, which are the small ones. So then it is searched together with these for what is to go where.

// sparing has a tier spare what its limits leave.
type sparing struct{ *Searcher }

// lighterWeighs is how many times the price of lighter tiers counts in that search: what a heavier one sells is to be bought first.
const lighterWeighs = 4

// answer is one for the tier that, with what lighter tiers cost for the rest, comes cheaper than the given one, or that one. It leaves
// nothing of the limits by which another pod could have a machine.
func (k sparing) answer(lighter [][]*market.Pool, p problem.Problem, hosts []int, lots []*lot, a problem.Answer) problem.Answer {
	wishful := slices.ContainsFunc(lots, func(l *lot) bool { return l.wish.PerHost > 0 })
	if k.Often || len(lighter) == 0 || len(p.Budgets) == 0 || len(a.Left) == 0 || wishful || !alike(p.Items) {
		return a
	}
	all, offers := p, slices.Clone(hosts)
	all.Hosts, all.Budgets = slices.Clone(p.Hosts), slices.Clone(p.Budgets)
	for _, tier := range lighter {
		q, more := k.onSale(tier)
		for i := range q.Hosts {
			for j := range q.Hosts[i].Draws {
				q.Hosts[i].Draws[j].Budget += len(all.Budgets)
			}
		}
		all.Hosts, all.Budgets, offers = append(all.Hosts, q.Hosts...), append(all.Budgets, q.Budgets...), append(offers, more...)
	}
	among := NewHosts(offers)
	all.Items = slices.Clone(p.Items)
	for i, l := range lots {
		all.Items[i].Hosts = among.Among(l.offers)
	}
	all.Unproven = true
	dear := all
	dear.Hosts = slices.Clone(all.Hosts)
	for i := len(hosts); i < len(dear.Hosts); i++ {
		dear.Hosts[i].Price = int64(money.Micro(dear.Hosts[i].Price).Times(lighterWeighs))
	}
	found := solve.Solve(dear)
	_, b := solve.Within(all, found, len(hosts))
	mine, left, steps := k.with(all, len(hosts), a)
	its, leaves, more := k.with(all, len(hosts), b)
	a.Steps += found.Steps + steps + more
	if leaves < left || leaves == left && its < mine {
		b.Steps, b.Bound, b.Duals = a.Steps, a.Bound, a.Duals
		return b
	}
	return a
}

// with is what an answer for the first so many hosts costs together with what the others cost for what it leaves, how many items these leave, and the counted work.
func (k sparing) with(all problem.Problem, hosts int, a problem.Answer) (cost money.Micro, left, steps int) {
	rest := solve.Part(all, hosts, len(all.Hosts), a.Left)
	rest.Steps = all.Steps / 4
	b := solve.Solve(rest)
	for _, l := range b.Left {
		left += l.Count
	}
	return k.spent(a) + k.spent(b), left, b.Steps
}

// alike reports whether all items are of one rank.
func alike(items []problem.Item) bool {
	return !slices.ContainsFunc(items, func(it problem.Item) bool { return it.Rank != items[0].Rank })
}
