package pack

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/spread"
)

// search buys machines for whole classes at once, tier by tier; what it cannot
// prove to be right, or not place, stays for the exact tier.
func (k *searcher) search() {
	lots, rest := k.lots()
	var p *proof
	if !k.loose {
		p = k.proof
		p.forced = k.force(lots, rest)
	}
	for _, tier := range k.Market.Tiers {
		if len(lots) == 0 {
			break
		}
		var back []*packing.Pod
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
func (k *searcher) searchTier(tier []*market.Pool, lots []*lot, proof *proof) (out []*lot, back []*packing.Pod) {
	p, hosts := k.problem(tier, k.Market.Varied)
	var in []*lot
	pods := 0
	for _, l := range lots {
		b := hostsAmong(l.offers, hosts)
		if b == nil {
			out = append(out, l)
			continue
		}
		in = append(in, l)
		pods += len(l.pods)
		p.Items = append(p.Items, solve.Item{
			Name: l.name, Rank: -int(l.class.Pod.Priority), Count: l.pieces(), Need: l.need, PerHost: l.simple.PerHost, Hosts: b,
		})
	}
	if len(in) == 0 {
		return out, nil
	}
	k.groups(&p, in)
	p.Unproven = proof == nil || !proof.forced
	if p.Steps == 0 {
		p.Steps = min(max(pods*stepsPerPod, leastSteps), solve.DefaultSteps)
	}
	a := k.solveWishes(p, in)
	k.Steps += a.Steps
	back = k.buyAll(a, in, hosts, proof != nil)
	if proof != nil {
		proof.bound += a.Bound
	}
	for _, l := range in {
		if len(l.pods) > 0 {
			out = append(out, l)
		}
	}
	return out, back
}

// The search for a few pods is shorter than that for many.
const (
	stepsPerPod = 1_000
	leastSteps  = 2_000_000
)

// hostsAmong returns which of the hosts are offers of the set; nil if none is.
func hostsAmong(offers market.Set, hosts []int) solve.Bits {
	b, some := solve.NewBits(len(hosts)), false
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
func (k *searcher) solveWishes(p solve.Problem, lots []*lot) solve.Answer {
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
	lost := int64(0)
	for _, n := range free.Nodes {
		for _, it := range n.Items {
			if w := lots[it.Item].wish; w.PerHost > 0 {
				lost += int64(n.Times) * int64(max(it.Count-w.PerHost, 0)) * k.Options.Regret(w.Weight)
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
func (k *searcher) spent(a solve.Answer) int64 {
	sum := a.Cost
	for _, n := range a.Nodes {
		sum += int64(n.Times) * k.Options.NodeCharge()
	}
	return sum
}

// problem is the tier's offers, and its limits and reservations as budgets.
func (k *searcher) problem(tier []*market.Pool, only func(*market.Type) bool) (p solve.Problem, hosts []int) {
	p.Charge, p.Steps = k.Options.NodeCharge(), k.Options.Steps
	quotas := map[int]int{}
	for _, pl := range tier {
		if !k.serves(pl) {
			continue
		}
		first := len(p.Budgets)
		for _, e := range pl.Left {
			p.Budgets = append(p.Budgets, max(e.Value, 0))
		}
		for i := range pl.Offers.All {
			o := &k.Market.Offers[i]
			if !k.Useful.Has(i) || !k.Market.OnSale(i) || !only(o.Type) {
				continue
			}
			h := solve.Host{Name: o.Name(), Room: o.Type.Room, Price: o.Expected}
			for j, e := range pl.Left {
				if n := o.Type.Counts(e.Name); n > 0 {
					h.Draws = append(h.Draws, solve.Draw{Budget: first + j, Amount: n})
				}
			}
			if o.Quota >= 0 {
				b, ok := quotas[o.Quota]
				if !ok {
					b = len(p.Budgets)
					quotas[o.Quota] = b
					p.Budgets = append(p.Budgets, int64(k.Market.Quotas[o.Quota].Left))
				}
				h.Draws = append(h.Draws, solve.Draw{Budget: b, Amount: 1})
			}
			p.Hosts = append(p.Hosts, h)
			hosts = append(hosts, i)
		}
	}
	return p, hosts
}

// serves reports whether some pod could be hosted by what the pool sells.
func (k *searcher) serves(p *market.Pool) bool {
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
func (k *searcher) groups(p *solve.Problem, lots []*lot) {
	owners, shunned, shares := map[int32][]int{}, map[int32][]int{}, map[spread.Share][]int{}
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
	p.Groups = append(p.Groups, shared(shares)...)
	for _, g := range sortedKeys(owners, cmp.Compare[int32]) {
		if slices.Equal(owners[g], shunned[g]) {
			if len(owners[g]) > 1 {
				p.Groups = append(p.Groups, solve.Group{Members: owners[g], Cap: 1})
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
}

func sortedKeys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	out := make([]K, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.SortFunc(out, compare)
	return out
}

// buyAll opens the machines of the answer and puts the lots' pods on them. It
// returns the pods of machines that would not keep their pool's minValues.
func (k *searcher) buyAll(a solve.Answer, lots []*lot, hosts []int, proven bool) (back []*packing.Pod) {
	for _, n := range a.Nodes {
		for range n.Times {
			b := k.Buy(hosts[n.Host])
			for _, it := range n.Items {
				l := lots[it.Item]
				pods := l.take(it.Count)
				for _, x := range pods {
					x.Proven = proven
				}
				if !l.whole {
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
