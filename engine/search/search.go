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
	for _, tier := range k.Market.Tiers {
		if len(lots) == 0 {
			break
		}
		var back []*packing.Pod
		k.shared = len(rest) > 0
		lots, back = k.searchTier(tier, lots, p)
		rest = append(rest, back...)
	}
	for _, l := range lots {
		rest = append(rest, l.pods...)
	}
	k.Unplaced = rest
}

// searchTier buys from the pools of one tier for the lots they can host, and
// returns what is left, and what came back.
func (k *Searcher) searchTier(tier []*market.Pool, lots []*lot, proof *Proof) (out []*lot, back []*packing.Pod) {
	stock := k.onSale
	if k.Often {
		stock = k.onShelf
	}
	p, hosts := stock(tier)
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
	a := k.solveWishes(p, in)
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
