package search

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/spread"
)

// NewProof notes what is on sale.
func (k *Searcher) NewProof() *Proof {
	p := &Proof{}
	for _, tier := range k.Market.Tiers {
		at, offers := k.problem(tier, func(*market.Type) bool { return true })
		for i, offer := range offers {
			h := &at.Hosts[i]
			p.draws = append(p.draws, k.drawn(h.Draws, offer, len(p.budgets)))
			h.Draws = nil
		}
		p.budgets = append(p.budgets, at.Budgets...)
		p.Free.Hosts = append(p.Free.Hosts, at.Hosts...)
		p.Hosts = append(p.Hosts, offers...)
	}
	return p
}

// drawn are the draws of one tier's offer on the budgets of all tiers, after those of the tiers before it. Pools with minValues book the
// largest type of a menu and are expected to get the cheapest, which is not known to draw as much.
func (k *Searcher) drawn(draws []solve.Draw, offer, before int) []solve.Draw {
	if k.Market.Offers[offer].Type.Pool.HasMinValues {
		return nil
	}
	for i := range draws {
		draws[i].Budget += before
	}
	return draws
}

// limited is what is on sale within what limits and reservations leave.
func (p *Proof) limited() []solve.Host {
	out := slices.Clone(p.Free.Hosts)
	for i := range out {
		out[i].Draws = p.draws[i]
	}
	return out
}

// Priced is what is on sale at its price alone.
func (p *Proof) Priced(m *market.Market) []solve.Host {
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
	on := k.onNew()
	if k.Proof.forced && !on.moved && !slices.ContainsFunc(k.Unplaced, func(x *packing.Pod) bool { return x.Proven }) {
		return k.Proof.bound
	}
	free, ok := k.anew(on, false)
	if !ok {
		return 0
	}
	free.Hosts = k.Proof.Priced(k.Market)
	return money.Micro(solve.Bound(free, int64(packing.Price(k.Packing))))
}

// SpendBound is what these pods cost at least with the charge for each machine, which is what plans make small, within limits and
// in the order of pools.
func (k *Searcher) SpendBound() money.Micro {
	free, ok := k.anew(k.onNew(), true)
	if !ok {
		return 0
	}
	free.Hosts, free.Budgets = k.Proof.limited(), k.Proof.budgets
	free.Charge = int64(k.Market.Every)
	return money.Micro(solve.Spend(free, int64(packing.Weight(k.Packing))))
}

// onNew is what is on new machines.
type onNew struct {
	placed  map[*packing.Class]int         // so many pods of each class
	offers  map[*packing.Class]map[int]int // and so many on machines of each offer
	crowded map[*packing.Class]bool        // some of them beyond what a machine should hold of them
	moved   bool                           // not all pods that were searched for are where they were put, or others are there
}

func (k *Searcher) onNew() onNew {
	on := onNew{placed: map[*packing.Class]int{}, offers: map[*packing.Class]map[int]int{}, crowded: map[*packing.Class]bool{}}
	for _, bins := range [][]*packing.Bin{k.Existing, k.Planned} {
		for _, b := range bins {
			for _, x := range b.Pods {
				if b.Machine != nil {
					on.moved = on.moved || x.Proven
					continue
				}
				on.placed[x.Class]++
				if on.offers[x.Class] == nil {
					on.offers[x.Class] = map[int]int{}
				}
				on.offers[x.Class][b.Offer]++
				on.crowded[x.Class] = on.crowded[x.Class] || x.Crowded
				on.moved = on.moved || x.Crowded || !x.Proven
			}
			if b.Machine == nil {
				k.noteCrowd(b, on.crowded)
			}
		}
	}
	return on
}

// noteCrowd notes which classes have more pods on the machine than a machine should hold of them: those that have to
// be together are, whatever else they wish.
func (k *Searcher) noteCrowd(b *packing.Bin, crowded map[*packing.Class]bool) {
	pods, shares := map[*packing.Class]int{}, map[spread.Share]int{}
	for _, x := range b.Pods {
		if x.Class.Plain {
			continue
		}
		pods[x.Class]++
	}
	for c, n := range pods {
		for _, s := range k.Ledger.Caps(c.PodInfo) {
			shares[s] += n
		}
	}
	for c, n := range pods {
		most := k.Ledger.PerHost(c.PodInfo)
		if most > 0 && n > most || slices.ContainsFunc(k.Ledger.Caps(c.PodInfo), func(s spread.Share) bool { return shares[s] > s.Cap }) {
			crowded[c] = true
		}
	}
}

// anew is the problem of placing on new machines the pods that are there, in all the ways they might have gone, or in those that
// keep the order of pools; false if for some nothing is on sale.
func (k *Searcher) anew(on onNew, ordered bool) (solve.Problem, bool) {
	free := k.Proof.Free
	items := map[*packing.Class]map[string]int{} // the item of each class in each domain that it has to be in; "" is the others
	shares := map[spread.Share][]int{}
	for _, c := range k.Classes {
		if on.placed[c] == 0 {
			continue
		}
		items[c] = map[string]int{}
		offers := c.Offers
		if ordered {
			offers = k.inOrder(c, on.offers[c])
		}
		for _, p := range k.portions(c, on.placed[c], on.offers[c]) {
			if ordered {
				p.offers = slices.Clone(p.offers)
				p.offers.Intersect(offers)
			}
			item := solve.Item{Name: c.Pod.String() + p.domain, Need: c.Need, Count: p.pods, Hosts: HostsAmong(p.offers, k.Proof.Hosts)}
			if item.Hosts == nil {
				return free, false
			}
			if !on.crowded[c] {
				item.PerHost = k.Ledger.PerHost(c.PodInfo)
				for _, s := range k.Ledger.Caps(c.PodInfo) {
					shares[s] = append(shares[s], len(free.Items))
				}
			}
			items[c][p.domain] = len(free.Items)
			free.Items = append(free.Items, item)
		}
	}
	free.Groups = Shared(shares)
	free.Seeds = []solve.Answer{k.asPlanned(items)}
	return free, true
}

// asPlanned is the planned machines as an answer, by the items of classes.
func (k *Searcher) asPlanned(items map[*packing.Class]map[string]int) solve.Answer {
	at := map[int]int{}
	for h, offer := range k.Proof.Hosts {
		at[offer] = h
	}
	var out solve.Answer
	for _, b := range k.Planned {
		h, ok := at[b.Offer]
		if !ok || b.Machine != nil {
			continue
		}
		counts := map[int]int{}
		for _, x := range b.Pods {
			counts[k.itemOf(x.Class, b, items[x.Class])]++
		}
		n := solve.Node{Host: h, Times: 1}
		for _, i := range sortedKeys(counts, cmp.Compare[int]) {
			n.Items = append(n.Items, solve.Portion{Item: i, Count: counts[i]})
		}
		out.Nodes = append(out.Nodes, n)
	}
	return out
}

// itemOf is the item that a pod of the class is taken for on a machine: that of its domain, if there is one.
func (k *Searcher) itemOf(c *packing.Class, b *packing.Bin, items map[string]int) int {
	if key, _, _, ok := k.Ledger.SpreadAlone(c.PodInfo); ok {
		if i, ok := items[" "+k.Market.DomainOf(b.Offer, key)]; ok {
			return i
		}
	}
	return items[""]
}

// portion is so many pods of a class, and what can be bought for them.
type portion struct {
	domain string
	pods   int
	offers market.Set
}

// portions are the pods of a class on new machines: for each domain over which they
// are spread as many as it must have of them, whatever the plan, and the others, which may
// go anywhere. All domains that they can reach are taken to count.
func (k *Searcher) portions(c *packing.Class, pods int, on map[int]int) []portion {
	rest := portion{"", pods, c.Offers}
	key, group, skew, ok := k.Ledger.SpreadAlone(c.PodInfo)
	if !ok {
		return []portion{rest}
	}
	names, sets := k.Market.ByDomain(c.Offers, key)
	counts, fresh := k.Ledger.ByDomain(group), map[string]int{}
	for offer, n := range on {
		fresh[k.Market.DomainOf(offer, key)] += n
	}
	total := 0
	for _, d := range names {
		total += counts[d]
	}
	least := (total - skew*(len(names)-1) + len(names) - 1) / max(len(names), 1)
	var out []portion
	for _, d := range names {
		// What is on machines that are there stays.
		if n := min(least-(counts[d]-fresh[d]), fresh[d]); n > 0 {
			out = append(out, portion{" " + d, n, sets[d]})
			rest.pods -= n
		}
	}
	if rest.pods > 0 {
		out = append(out, rest)
	}
	return out
}
